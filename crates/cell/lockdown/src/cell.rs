//! Locks a newborn cell down, before any plan code runs in it.

use core::ffi::{CStr, c_int};

use crate::control::{Order, Report};
use crate::root;
use crate::step::{At, Failure, Outcome, Step};
use crate::sys::{self, EINVAL};
use crate::zygote::{write_file, write_maps, write_number};

/// A system-call filter: instructions of the kernel's classic BPF, eight bytes each.
pub type Filter<'a> = &'a [u64];

/// The user and group that plan code sees itself as.
const CELL_USER: u32 = 1000;

const WORK: &CStr = c"/work";
/// Where a folder of the host's disk is, if the zygote shows one.
const SCRATCH: &CStr = c"/scratch";

/// The descriptor of a cell's wire.
pub const WIRE: c_int = 3;

/// What every cell of a zygote has in common.
#[derive(Debug)]
pub struct Jail<'a> {
    /// The control socket.
    pub control: c_int,
    /// The host's `/proc`.
    pub proc_folder: c_int,
    /// The last filter, on top of the zygote's.
    pub filter: Filter<'a>,
    /// What is switched on.
    pub options: Options,
}

/// What is switched on in a jail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Goes on without Landlock where the kernel has none. The supervisor sets it only where the configured
    /// minimum allows it.
    pub landlock_may_be_missing: bool,
}

impl Options {
    /// Reads the options from the number that Python passes.
    pub fn from_bits(bits: u32) -> Self {
        Self { landlock_may_be_missing: bits & 1 != 0 }
    }
}

/// Takes from this process everything that a cell does not need. The order matters: mounting needs capabilities,
/// Landlock forbids mounting, and the filter forbids most of what is above it.
pub fn lock_down(jail: &Jail<'_>, order: &Order, descriptors: [c_int; 3]) -> Outcome<()> {
    // 1. The cell dies with the zygote even if nobody is left to kill it.
    sys::die_with_parent().at(Step::DeathSignal)?;
    //    And when memory runs out, before anything else on the machine. A host that does not allow it chooses by size.
    let _ = write_file(jail.proc_folder, c"self/oom_score_adj", b"1000");
    // 2. An identity in the new user namespace, which so far has none.
    write_maps(jail.proc_folder, (CELL_USER, 0), (CELL_USER, 0)).at(Step::IdentityMaps)?;
    // 3. The one place where files can be written, handed to the supervisor as a descriptor before plan code can
    //    touch it: artifacts are read through it when the cell is dead.
    mount_work(order)?;
    hand_over_work(jail.control, order.cell)?;
    // 4. Limits that do not depend on the job; those that do are lowered when the job comes.
    limit_resources(order).at(Step::ResourceLimits)?;
    // 5. Of all descriptors, only stdin (nothing), stdout, stderr and the wire are left.
    keep_descriptors(descriptors).at(Step::Descriptors)?;
    // 6. Files: read everything the root shows, write the work folder and files on disk, execute nothing. No TCP, no abstract
    //    sockets, no signals to processes outside.
    restrict(jail.options, order.scratch_bytes > 0)?;
    // 7. No capability is left, nobody may look in, and the filter closes the calls that the steps above needed.
    sys::drop_capabilities().at(Step::Capabilities)?;
    sys::set_dumpable(false).at(Step::Capabilities)?;
    sys::install_filter(jail.filter).at(Step::CellFilter)
}

fn mount_work(order: &Order) -> Outcome<()> {
    let mut options = [0; 96];
    let mut at = append(&mut options, 0, b"mode=700,uid=1000,gid=1000,size=");
    at = write_number(&mut options, at, order.work_bytes);
    at = append(&mut options, at, b",nr_inodes=");
    write_number(&mut options, at, order.work_inodes);
    let options =
        CStr::from_bytes_until_nul(&options).map_err(|_| Failure { step: Step::MountWork, errno: EINVAL })?;
    root::mount_work(WORK, options)?;
    for folder in [c"/work/artifacts", c"/work/data", c"/work/tmp"] {
        sys::make_folder(folder, 0o700).at(Step::PrepareWork)?;
    }
    sys::change_folder(WORK).at(Step::PrepareWork)
}

fn append(into: &mut [u8], at: usize, text: &[u8]) -> usize {
    into[at..at + text.len()].copy_from_slice(text);
    at + text.len()
}

fn hand_over_work(control: c_int, cell: u64) -> Outcome<()> {
    const O_DIRECTORY_CLOEXEC: c_int = 0o200_000 | 0o2_000_000;
    let folder = sys::open_at(sys::CURRENT_FOLDER, WORK, O_DIRECTORY_CLOEXEC, 0).at(Step::PrepareWork)?;
    sys::send(control, &Report::Locked { cell }.encode(), Some(folder)).at(Step::Report)
}

fn limit_resources(order: &Order) -> Result<(), i32> {
    const RLIMIT_FSIZE: c_int = 1;
    const RLIMIT_STACK: c_int = 3;
    const RLIMIT_CORE: c_int = 4;
    const RLIMIT_NOFILE: c_int = 7;
    const RLIMIT_MEMLOCK: c_int = 8;
    const RLIMIT_SIGPENDING: c_int = 11;
    const RLIMIT_MSGQUEUE: c_int = 12;
    const RLIMIT_NICE: c_int = 13;
    const RLIMIT_RTPRIO: c_int = 14;
    for (resource, value) in [
        (RLIMIT_FSIZE, order.work_bytes.max(order.scratch_bytes)),
        // The stack does not count as data, so it has a limit of its own.
        (RLIMIT_STACK, 16 << 20),
        (RLIMIT_CORE, 0),
        (RLIMIT_NOFILE, 256),
        (RLIMIT_MEMLOCK, 0),
        (RLIMIT_SIGPENDING, 256),
        (RLIMIT_MSGQUEUE, 0),
        (RLIMIT_NICE, 0),
        (RLIMIT_RTPRIO, 0),
    ] {
        sys::limit_resource(resource, value)?;
    }
    Ok(())
}

fn keep_descriptors([wire, stdout, stderr]: [c_int; 3]) -> Result<(), i32> {
    const O_RDONLY: c_int = 0;
    let nothing = sys::open_at(sys::CURRENT_FOLDER, c"/dev/null", O_RDONLY, 0)?;
    // The received descriptors may themselves be numbered 0 to 3, so each is first moved out of the way.
    let high = [(nothing, 60), (stdout, 61), (stderr, 62), (wire, 63)];
    for (from, to) in high {
        sys::duplicate(from, to)?;
    }
    for (from, to) in [(60, 0), (61, 1), (62, 2), (63, WIRE)] {
        sys::duplicate(from, to)?;
    }
    sys::close_from(WIRE + 1)
}

fn restrict(options: Options, has_scratch: bool) -> Outcome<()> {
    let version = match sys::landlock_version() {
        Ok(version) => version,
        Err(_) if options.landlock_may_be_missing => return Ok(()),
        Err(errno) => return Err(Failure { step: Step::Landlock, errno }),
    };
    enforce(&Rights::of(version), has_scratch).at(Step::Landlock)
}

fn enforce(rights: &Rights, has_scratch: bool) -> Result<(), i32> {
    let ruleset = sys::landlock_ruleset(rights.files, rights.network, rights.scopes)?;
    sys::landlock_allow(ruleset, READ & rights.files, c"/")?;
    sys::landlock_allow(ruleset, WORK_RIGHTS & rights.files, WORK)?;
    if has_scratch {
        sys::landlock_allow(ruleset, SCRATCH_RIGHTS & rights.files, SCRATCH)?;
    }
    sys::landlock_allow(ruleset, WRITE_FILE & rights.files, c"/dev/null")?;
    sys::landlock_enforce(ruleset)?;
    sys::close(ruleset)
}

const WRITE_FILE: u64 = 1 << 1;
/// Read files and list folders. Executing is allowed nowhere.
const READ: u64 = (1 << 2) | (1 << 3);
/// In the work folder also: write, remove, make folders, files and links, rename across folders, truncate. Not:
/// make devices, sockets or pipes.
const WORK_RIGHTS: u64 =
    READ | WRITE_FILE | (1 << 4) | (1 << 5) | (1 << 7) | (1 << 8) | (1 << 12) | (1 << 13) | (1 << 14);

/// On disk: write, remove and make plain files, and truncate. No folders, so that the supervisor sees all files at a glance.
const SCRATCH_RIGHTS: u64 = READ | WRITE_FILE | (1 << 5) | (1 << 8) | (1 << 14);

/// The rights that a version of Landlock can take away.
struct Rights {
    files: u64,
    network: u64,
    scopes: u64,
}

impl Rights {
    fn of(version: c_int) -> Self {
        let files = match version {
            ..=1 => 13,
            2 => 14,
            3 | 4 => 15,
            _ => 16,
        };
        Self {
            files: (1 << files) - 1,
            network: if version >= 4 { 0b11 } else { 0 },
            scopes: if version >= 6 { 0b11 } else { 0 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_landlock_version_is_asked_only_for_what_it_knows() {
        assert_eq!(Rights::of(1).files, 0x1fff);
        assert_eq!(Rights::of(2).files, 0x3fff);
        assert_eq!(Rights::of(3).files, 0x7fff);
        assert_eq!((Rights::of(4).files, Rights::of(4).network, Rights::of(4).scopes), (0x7fff, 3, 0));
        assert_eq!((Rights::of(7).files, Rights::of(7).network, Rights::of(7).scopes), (0xffff, 3, 3));
    }
}
