//! The only unsafe code: one safe wrapper for each system call, and the entry points that CPython calls.
//!
//! Every wrapper goes through libc's `syscall`, which the process has loaded anyway, and returns the kernel's error
//! number. None of them allocates or takes a lock, so all may be used between `clone3` and the first Python
//! instruction of a cell.
#![expect(unsafe_code, reason = "system calls and C entry points have no safe form")]

use core::ffi::{CStr, c_int, c_long, c_void};

use crate::cell::{self, Filter};
use crate::control::MESSAGE_BYTES;
use crate::step::Failure;
use crate::zygote;

/// The result of a system call: a value, or the kernel's error number.
pub type Call<T> = Result<T, i32>;

/// Stands for "the current folder" where a descriptor is wanted.
pub const CURRENT_FOLDER: c_int = -100;

/// `EINVAL`, the error that this crate raises itself for input it cannot read.
pub const EINVAL: i32 = 22;
/// `EEXIST`.
pub const EEXIST: i32 = 17;
/// `EINTR`.
pub const EINTR: i32 = 4;
/// Not permitted.
pub const EPERM: i32 = 1;

unsafe extern "C" {
    fn syscall(number: c_long, ...) -> c_long;
    fn __errno_location() -> *mut c_int;
}

#[cfg(target_arch = "x86_64")]
mod number {
    use core::ffi::c_long;
    pub(super) const CLOSE: c_long = 3;
    pub(super) const WRITE: c_long = 1;
    pub(super) const SENDMSG: c_long = 46;
    pub(super) const RECVMSG: c_long = 47;
    pub(super) const READ: c_long = 0;
    pub(super) const WAIT4: c_long = 61;
    pub(super) const CHDIR: c_long = 80;
    pub(super) const GETEUID: c_long = 107;
    pub(super) const GETEGID: c_long = 108;
    pub(super) const SETGROUPS: c_long = 116;
    pub(super) const SETRESUID: c_long = 117;
    pub(super) const SETRESGID: c_long = 119;
    pub(super) const CAPSET: c_long = 126;
    pub(super) const PIVOT_ROOT: c_long = 155;
    pub(super) const PRCTL: c_long = 157;
    pub(super) const MOUNT: c_long = 165;
    pub(super) const UMOUNT2: c_long = 166;
    pub(super) const SETHOSTNAME: c_long = 170;
    pub(super) const EXIT_GROUP: c_long = 231;
    pub(super) const OPENAT: c_long = 257;
    pub(super) const MKDIRAT: c_long = 258;
    pub(super) const UNLINKAT: c_long = 263;
    pub(super) const SYMLINKAT: c_long = 266;
    pub(super) const PPOLL: c_long = 271;
    pub(super) const UNSHARE: c_long = 272;
    pub(super) const DUP3: c_long = 292;
    pub(super) const PRLIMIT64: c_long = 302;
    pub(super) const SECCOMP: c_long = 317;
}

#[cfg(target_arch = "aarch64")]
mod number {
    use core::ffi::c_long;
    pub(super) const DUP3: c_long = 24;
    pub(super) const MKDIRAT: c_long = 34;
    pub(super) const UNLINKAT: c_long = 35;
    pub(super) const SYMLINKAT: c_long = 36;
    pub(super) const UMOUNT2: c_long = 39;
    pub(super) const MOUNT: c_long = 40;
    pub(super) const PIVOT_ROOT: c_long = 41;
    pub(super) const CHDIR: c_long = 49;
    pub(super) const OPENAT: c_long = 56;
    pub(super) const CLOSE: c_long = 57;
    pub(super) const READ: c_long = 63;
    pub(super) const WRITE: c_long = 64;
    pub(super) const PPOLL: c_long = 73;
    pub(super) const CAPSET: c_long = 91;
    pub(super) const EXIT_GROUP: c_long = 94;
    pub(super) const UNSHARE: c_long = 97;
    pub(super) const SETRESUID: c_long = 147;
    pub(super) const SETRESGID: c_long = 149;
    pub(super) const SETGROUPS: c_long = 159;
    pub(super) const SETHOSTNAME: c_long = 161;
    pub(super) const PRCTL: c_long = 167;
    pub(super) const GETEUID: c_long = 175;
    pub(super) const GETEGID: c_long = 177;
    pub(super) const SENDMSG: c_long = 211;
    pub(super) const RECVMSG: c_long = 212;
    pub(super) const WAIT4: c_long = 260;
    pub(super) const PRLIMIT64: c_long = 261;
    pub(super) const SECCOMP: c_long = 277;
}

/// Numbers that are the same on every architecture (from 424 on).
mod common_number {
    use core::ffi::c_long;
    pub(super) const CLONE3: c_long = 435;
    pub(super) const CLOSE_RANGE: c_long = 436;
    pub(super) const MOUNT_SETATTR: c_long = 442;
    pub(super) const LANDLOCK_CREATE_RULESET: c_long = 444;
    pub(super) const LANDLOCK_ADD_RULE: c_long = 445;
    pub(super) const LANDLOCK_RESTRICT_SELF: c_long = 446;
}

use common_number as common;

fn result(value: c_long) -> Call<c_long> {
    if value == -1 {
        // SAFETY: libc gives every thread a valid errno cell for as long as the thread lives.
        Err(unsafe { *__errno_location() })
    } else {
        Ok(value)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the kernel's descriptors and ids fit an int")]
fn int(value: Call<c_long>) -> Call<c_int> {
    value.map(|value| value as c_int)
}

/// Opens a path relative to a folder.
pub fn open_at(folder: c_int, path: &CStr, flags: c_int, mode: u32) -> Call<c_int> {
    // SAFETY: `path` is NUL-terminated and outlives the call; the other arguments are plain numbers.
    int(result(unsafe { syscall(number::OPENAT, folder, path.as_ptr(), flags, mode) }))
}

/// Closes a descriptor.
pub fn close(descriptor: c_int) -> Call<()> {
    // SAFETY: plain number; closing a descriptor that is not open is an error, not undefined.
    result(unsafe { syscall(number::CLOSE, descriptor) }).map(drop)
}

/// Closes every descriptor from `first` on.
pub fn close_from(first: c_int) -> Call<()> {
    // SAFETY: plain numbers. The caller's own descriptors at or above `first` are gone afterwards.
    result(unsafe { syscall(common::CLOSE_RANGE, first, u32::MAX, 0) }).map(drop)
}

/// Makes `to` stand for what `from` stands for.
pub fn duplicate(from: c_int, to: c_int) -> Call<()> {
    // SAFETY: plain numbers.
    result(unsafe { syscall(number::DUP3, from, to, 0) }).map(drop)
}

/// Reads what is there, at most as much as `into` holds, and returns how much.
pub fn read(descriptor: c_int, into: &mut [u8]) -> Call<usize> {
    // SAFETY: the pointer and length describe `into`, which nobody else uses during the call.
    let read = result(unsafe { syscall(number::READ, descriptor, into.as_mut_ptr(), into.len()) })?;
    usize::try_from(read).map_err(|_| EINVAL)
}

/// Writes all bytes in one call; a short write is an error, because the files written so take one write only.
pub fn write(descriptor: c_int, bytes: &[u8]) -> Call<()> {
    // SAFETY: the pointer and length describe `bytes`, which outlives the call.
    let written = result(unsafe { syscall(number::WRITE, descriptor, bytes.as_ptr(), bytes.len()) })?;
    if usize::try_from(written) == Ok(bytes.len()) { Ok(()) } else { Err(EINVAL) }
}

/// Makes a folder.
pub fn make_folder(path: &CStr, mode: u32) -> Call<()> {
    // SAFETY: `path` is NUL-terminated and outlives the call.
    result(unsafe { syscall(number::MKDIRAT, CURRENT_FOLDER, path.as_ptr(), mode) }).map(drop)
}

/// Makes a symbolic link.
pub fn make_link(target: &CStr, path: &CStr) -> Call<()> {
    // SAFETY: both strings are NUL-terminated and outlive the call.
    result(unsafe { syscall(number::SYMLINKAT, target.as_ptr(), CURRENT_FOLDER, path.as_ptr()) }).map(drop)
}

/// Removes an empty folder.
pub fn remove_folder(path: &CStr) -> Call<()> {
    const AT_REMOVEDIR: c_int = 0x200;
    // SAFETY: `path` is NUL-terminated and outlives the call.
    result(unsafe { syscall(number::UNLINKAT, CURRENT_FOLDER, path.as_ptr(), AT_REMOVEDIR) }).map(drop)
}

/// Changes the working folder.
pub fn change_folder(path: &CStr) -> Call<()> {
    // SAFETY: `path` is NUL-terminated and outlives the call.
    result(unsafe { syscall(number::CHDIR, path.as_ptr()) }).map(drop)
}

/// Mounts a filesystem, or changes a mount, as `mount(2)` has it.
pub fn mount(
    source: Option<&CStr>,
    target: &CStr,
    kind: Option<&CStr>,
    flags: u64,
    data: Option<&CStr>,
) -> Call<()> {
    let pointer = |text: Option<&CStr>| text.map_or(core::ptr::null(), CStr::as_ptr);
    // SAFETY: every pointer is null, which mount(2) accepts for these, or a NUL-terminated string that outlives
    // the call.
    result(unsafe {
        syscall(
            number::MOUNT,
            pointer(source),
            target.as_ptr(),
            pointer(kind),
            flags,
            pointer(data).cast::<c_void>(),
        )
    })
    .map(drop)
}

/// Adds attributes (read-only, nosuid, …) to a mount and all mounts below it, taking none away.
pub fn add_mount_attributes(target: &CStr, attributes: u64) -> Call<()> {
    change_mount_attributes(target, attributes, 0)
}

/// Takes attributes away from a mount and all mounts below it.
pub fn clear_mount_attributes(target: &CStr, attributes: u64) -> Call<()> {
    change_mount_attributes(target, 0, attributes)
}

fn change_mount_attributes(target: &CStr, set: u64, clear: u64) -> Call<()> {
    const AT_RECURSIVE: c_int = 0x8000;
    /// `struct mount_attr` of the kernel.
    #[repr(C)]
    struct MountAttributes {
        set: u64,
        clear: u64,
        propagation: u64,
        user_namespace: u64,
    }
    let request = MountAttributes { set, clear, propagation: 0, user_namespace: 0 };
    // SAFETY: `target` is NUL-terminated; `request` has the kernel's layout, its size is passed, and both outlive
    // the call.
    result(unsafe {
        syscall(
            common::MOUNT_SETATTR,
            CURRENT_FOLDER,
            target.as_ptr(),
            AT_RECURSIVE,
            &raw const request,
            size_of::<MountAttributes>(),
        )
    })
    .map(drop)
}

/// Detaches a mount and everything below it.
pub fn detach(target: &CStr) -> Call<()> {
    const MNT_DETACH: c_int = 2;
    // SAFETY: `target` is NUL-terminated and outlives the call.
    result(unsafe { syscall(number::UMOUNT2, target.as_ptr(), MNT_DETACH) }).map(drop)
}

/// Makes `new_root` the root and hangs the old one at `old_root`.
pub fn pivot_root(new_root: &CStr, old_root: &CStr) -> Call<()> {
    // SAFETY: both strings are NUL-terminated and outlive the call.
    result(unsafe { syscall(number::PIVOT_ROOT, new_root.as_ptr(), old_root.as_ptr()) }).map(drop)
}

/// Moves the process into new namespaces.
pub fn unshare(flags: u64) -> Call<()> {
    // SAFETY: plain number; the zygote has one thread, so no other thread is surprised.
    result(unsafe { syscall(number::UNSHARE, flags) }).map(drop)
}

/// Names the host, as seen in this process's namespace.
pub fn set_host_name(name: &[u8]) -> Call<()> {
    // SAFETY: the pointer and length describe `name`, which outlives the call.
    result(unsafe { syscall(number::SETHOSTNAME, name.as_ptr(), name.len()) }).map(drop)
}

/// The effective user and group.
pub fn identity() -> (u32, u32) {
    // SAFETY: neither call takes arguments, and neither can fail.
    let (user, group) = unsafe { (syscall(number::GETEUID), syscall(number::GETEGID)) };
    (u32::try_from(user).unwrap_or(u32::MAX), u32::try_from(group).unwrap_or(u32::MAX))
}

/// Takes on another user and group for good, and leaves all supplementary groups.
pub fn become_user(user: u32, group: u32) -> Call<()> {
    // SAFETY: plain numbers; an empty group list may be null. Raw calls change only this thread, and the zygote
    // has only one.
    unsafe {
        result(syscall(number::SETGROUPS, 0_usize, core::ptr::null::<u32>()))?;
        result(syscall(number::SETRESGID, group, group, group))?;
        result(syscall(number::SETRESUID, user, user, user)).map(drop)
    }
}

fn prctl(option: c_int, value: u64) -> Call<()> {
    // SAFETY: only options that take plain numbers are passed, with the unused arguments zero as they ask.
    result(unsafe { syscall(number::PRCTL, option, value, 0_u64, 0_u64, 0_u64) }).map(drop)
}

/// Has the kernel kill this process when its parent dies.
pub fn die_with_parent() -> Call<()> {
    const PR_SET_PDEATHSIG: c_int = 1;
    const SIGKILL: u64 = 9;
    prctl(PR_SET_PDEATHSIG, SIGKILL)
}

/// Says whether other processes of the user may look into this one and dump it.
pub fn set_dumpable(is_dumpable: bool) -> Call<()> {
    const PR_SET_DUMPABLE: c_int = 4;
    prctl(PR_SET_DUMPABLE, u64::from(is_dumpable))
}

/// Forbids this process and its children to gain privileges by exec.
pub fn forbid_new_privileges() -> Call<()> {
    const PR_SET_NO_NEW_PRIVS: c_int = 38;
    prctl(PR_SET_NO_NEW_PRIVS, 1)
}

/// Sets a resource limit, soft and hard alike.
pub fn limit_resource(resource: c_int, value: u64) -> Call<()> {
    let limit = [value, value];
    // SAFETY: `limit` has the layout of `struct rlimit64` and outlives the call; the old limit is not asked for.
    result(unsafe { syscall(number::PRLIMIT64, 0, resource, limit.as_ptr(), core::ptr::null_mut::<u64>()) })
        .map(drop)
}

/// Gives up every capability.
pub fn drop_capabilities() -> Call<()> {
    const VERSION_3: u32 = 0x2008_0522;
    let header: [u32; 2] = [VERSION_3, 0];
    let data = [0_u32; 6];
    // SAFETY: header and data have the layout that version 3 asks for, and outlive the call.
    result(unsafe { syscall(number::CAPSET, header.as_ptr(), data.as_ptr()) }).map(drop)
}

/// Installs a system-call filter, a program of the kernel's classic BPF.
pub fn install_filter(program: Filter<'_>) -> Call<()> {
    const SECCOMP_SET_MODE_FILTER: c_long = 1;
    /// `struct sock_fprog` of the kernel.
    #[repr(C)]
    struct Program {
        length: u16,
        instructions: *const u64,
    }
    let length = u16::try_from(program.len()).map_err(|_| EINVAL)?;
    let program = Program { length, instructions: program.as_ptr() };
    // SAFETY: `program` names `length` instructions of eight bytes each, which outlive the call; the kernel checks
    // the program itself.
    result(unsafe { syscall(number::SECCOMP, SECCOMP_SET_MODE_FILTER, 0_u64, &raw const program) }).map(drop)
}

/// The version of Landlock that the kernel speaks.
pub fn landlock_version() -> Call<c_int> {
    const LANDLOCK_CREATE_RULESET_VERSION: c_int = 1;
    // SAFETY: asking for the version takes a null pointer and a zero size.
    int(result(unsafe {
        syscall(
            common::LANDLOCK_CREATE_RULESET,
            core::ptr::null::<u64>(),
            0_usize,
            LANDLOCK_CREATE_RULESET_VERSION,
        )
    }))
}

/// Makes an empty Landlock ruleset that handles the given rights.
pub fn landlock_ruleset(files: u64, network: u64, scopes: u64) -> Call<c_int> {
    let attributes = [files, network, scopes];
    // SAFETY: `attributes` has the layout of `struct landlock_ruleset_attr`; an older kernel accepts the longer
    // form while the fields it does not know are zero.
    int(result(unsafe {
        syscall(common::LANDLOCK_CREATE_RULESET, attributes.as_ptr(), size_of_val(&attributes), 0)
    }))
}

/// Allows rights beneath a path.
pub fn landlock_allow(ruleset: c_int, rights: u64, path: &CStr) -> Call<()> {
    const RULE_PATH_BENEATH: c_int = 1;
    const O_PATH_CLOEXEC: c_int = 0o10_000_000 | 0o2_000_000;
    /// `struct landlock_path_beneath_attr` of the kernel.
    #[repr(C, packed)]
    struct PathBeneath {
        rights: u64,
        path: c_int,
    }
    let descriptor = open_at(CURRENT_FOLDER, path, O_PATH_CLOEXEC, 0)?;
    let rule = PathBeneath { rights, path: descriptor };
    // SAFETY: `rule` has the kernel's packed layout and outlives the call; `descriptor` is open.
    let added =
        result(unsafe { syscall(common::LANDLOCK_ADD_RULE, ruleset, RULE_PATH_BENEATH, &raw const rule, 0) });
    close(descriptor)?;
    added.map(drop)
}

/// Enforces a ruleset on this thread, which must be the only one.
pub fn landlock_enforce(ruleset: c_int) -> Call<()> {
    // SAFETY: plain numbers.
    result(unsafe { syscall(common::LANDLOCK_RESTRICT_SELF, ruleset, 0) }).map(drop)
}

/// Where a process stands after [`clone_process`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// In the new process.
    Child,
    /// In the old one, which holds the child by number and by descriptor.
    Parent {
        /// The child's process number.
        process: c_int,
        /// The child's process descriptor.
        descriptor: c_int,
    },
}

/// Forks this process into new namespaces.
pub fn clone_process(namespaces: u64) -> Call<Side> {
    const CLONE_PIDFD: u64 = 0x1000;
    /// `struct clone_args` of the kernel, in its first published size.
    #[repr(C)]
    #[derive(Default)]
    struct CloneArguments {
        flags: u64,
        process_descriptor: u64,
        child_id: u64,
        parent_id: u64,
        exit_signal: u64,
        stack: u64,
        stack_size: u64,
        thread_storage: u64,
    }
    let mut descriptor: c_int = -1;
    let arguments = CloneArguments {
        flags: namespaces | CLONE_PIDFD,
        process_descriptor: (&raw mut descriptor) as u64,
        ..CloneArguments::default()
    };
    // SAFETY: without CLONE_VM the child gets a copy of this single-threaded process and goes on from here on its
    // own stack; `arguments` and `descriptor` outlive the call. The child's cached thread number stays right,
    // because zygote and cell are both process 1 of their namespaces.
    let process =
        int(result(unsafe { syscall(common::CLONE3, &raw const arguments, size_of::<CloneArguments>()) }))?;
    Ok(if process == 0 { Side::Child } else { Side::Parent { process, descriptor } })
}

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// The wait status.
    pub status: c_int,
    /// User and system time, in microseconds.
    pub cpu_us: u64,
    /// The largest resident size in KiB.
    pub resident_kib: u64,
}

/// Reaps a child that has ended.
pub fn reap(process: c_int) -> Call<Ended> {
    const WALL: c_int = 0x4000_0000;
    let mut status: c_int = 0;
    // `struct rusage`: two timevals (seconds, microseconds), then the largest resident size, then others.
    let mut usage = [0_i64; 18];
    // SAFETY: `status` and `usage` are as large as the kernel writes and outlive the call.
    result(unsafe { syscall(number::WAIT4, process, &raw mut status, WALL, usage.as_mut_ptr()) })?;
    let positive = |value: i64| u64::try_from(value).unwrap_or(0);
    Ok(Ended {
        status,
        cpu_us: positive((usage[0] + usage[2]) * 1_000_000 + usage[1] + usage[3]),
        resident_kib: positive(usage[4]),
    })
}

/// One descriptor to wait for, and whether it is ready.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Wait {
    descriptor: c_int,
    events: i16,
    returned: i16,
}

impl Wait {
    /// Waits for something to read, or for the end.
    pub const fn readable(descriptor: c_int) -> Self {
        const POLLIN: i16 = 1;
        Self { descriptor, events: POLLIN, returned: 0 }
    }

    /// Whether the last [`wait_any`] found it ready.
    pub const fn is_ready(&self) -> bool {
        self.returned != 0
    }
}

/// Waits until one of them is ready.
pub fn wait_any(waits: &mut [Wait]) -> Call<()> {
    // SAFETY: `Wait` has the layout of `struct pollfd`; pointer and length describe the slice, which outlives the
    // call; no timeout and no signal mask are passed.
    result(unsafe {
        syscall(
            number::PPOLL,
            waits.as_mut_ptr(),
            waits.len(),
            core::ptr::null::<u64>(),
            core::ptr::null::<u64>(),
            0,
        )
    })
    .map(drop)
}

/// `struct iovec` of the kernel.
#[repr(C)]
struct Piece {
    base: *mut c_void,
    length: usize,
}

/// `struct msghdr` of the kernel.
#[repr(C)]
struct MessageHeader {
    name: *mut c_void,
    name_length: u32,
    pieces: *mut Piece,
    pieces_length: usize,
    control: *mut c_void,
    control_length: usize,
    flags: c_int,
}

/// A control buffer with room for three descriptors, laid out as `struct cmsghdr` and its data.
#[repr(C, align(8))]
#[derive(Default)]
struct Rights {
    length: usize,
    level: c_int,
    kind: c_int,
    descriptors: [c_int; 4],
}

const RIGHTS_HEADER_BYTES: usize = 16;
const SOL_SOCKET: c_int = 1;
const SCM_RIGHTS: c_int = 1;

/// Sends one message, with a descriptor if one is given.
pub fn send(socket: c_int, message: &[u8; MESSAGE_BYTES], descriptor: Option<c_int>) -> Call<()> {
    const MSG_NOSIGNAL: c_int = 0x4000;
    let mut piece = Piece { base: message.as_ptr().cast_mut().cast(), length: message.len() };
    let mut rights = Rights {
        length: RIGHTS_HEADER_BYTES + size_of::<c_int>(),
        level: SOL_SOCKET,
        kind: SCM_RIGHTS,
        descriptors: [descriptor.unwrap_or(-1), 0, 0, 0],
    };
    let has_descriptor = descriptor.is_some();
    let header = MessageHeader {
        name: core::ptr::null_mut(),
        name_length: 0,
        pieces: &raw mut piece,
        pieces_length: 1,
        control: if has_descriptor { (&raw mut rights).cast() } else { core::ptr::null_mut() },
        control_length: if has_descriptor { RIGHTS_HEADER_BYTES + 8 } else { 0 },
        flags: 0,
    };
    // SAFETY: every pointer in `header` names a live local or `message`; sendmsg only reads through them.
    result(unsafe { syscall(number::SENDMSG, socket, &raw const header, MSG_NOSIGNAL) }).map(drop)
}

/// A message received with the descriptors that came along.
#[derive(Debug)]
pub struct Received {
    /// The bytes.
    pub message: [u8; MESSAGE_BYTES],
    /// How many bytes there are; 0 when the other side is gone.
    pub length: usize,
    /// The descriptors; -1 where none came.
    pub descriptors: [c_int; 3],
}

/// Receives one message.
pub fn receive(socket: c_int) -> Call<Received> {
    const MSG_CMSG_CLOEXEC: c_int = 0x4000_0000;
    let mut received = Received { message: [0; MESSAGE_BYTES], length: 0, descriptors: [-1; 3] };
    let mut piece = Piece { base: received.message.as_mut_ptr().cast(), length: MESSAGE_BYTES };
    let mut rights = Rights::default();
    let mut header = MessageHeader {
        name: core::ptr::null_mut(),
        name_length: 0,
        pieces: &raw mut piece,
        pieces_length: 1,
        control: (&raw mut rights).cast(),
        control_length: size_of::<Rights>(),
        flags: 0,
    };
    // SAFETY: every pointer in `header` names a live local of the stated size, which the kernel writes within.
    let length = result(unsafe { syscall(number::RECVMSG, socket, &raw mut header, MSG_CMSG_CLOEXEC) })?;
    received.length = usize::try_from(length).map_err(|_| EINVAL)?;
    if header.control_length >= RIGHTS_HEADER_BYTES && rights.level == SOL_SOCKET && rights.kind == SCM_RIGHTS
    {
        let count = rights.length.saturating_sub(RIGHTS_HEADER_BYTES) / size_of::<c_int>();
        for (slot, descriptor) in received.descriptors.iter_mut().zip(rights.descriptors).take(count) {
            *slot = descriptor;
        }
    }
    Ok(received)
}

/// Ends this process at once.
pub fn exit(code: c_int) -> ! {
    loop {
        // SAFETY: the call takes a plain number and does not return.
        unsafe { syscall(number::EXIT_GROUP, code) };
    }
}

/// Packs a failure into the number that Python receives: the step above sixteen bits of error number.
fn pack(failure: Failure) -> i64 {
    (i64::from(failure.step as u8) << 16) | i64::from(failure.errno & 0xffff)
}

/// # Safety
/// `bytes` must point to `length` readable bytes that stay unchanged for the lifetime `'a`.
unsafe fn slice<'a>(bytes: *const u8, length: usize) -> &'a [u8] {
    if bytes.is_null() {
        return &[];
    }
    // SAFETY: promised by the caller.
    unsafe { core::slice::from_raw_parts(bytes, length) }
}

/// # Safety
/// As [`slice`], and `bytes` must be aligned to eight bytes, as the data of a `ctypes` buffer of 64-bit numbers is.
unsafe fn filter<'a>(instructions: *const u64, length: usize) -> Filter<'a> {
    if instructions.is_null() || !instructions.is_aligned() {
        return &[];
    }
    // SAFETY: promised by the caller, and the alignment was looked at.
    unsafe { core::slice::from_raw_parts(instructions, length) }
}

/// Puts the process into the zygote's jail. Returns the descriptor of `/proc` (at least 0), or a packed failure
/// (negative).
///
/// # Safety
/// `config` must point to `length` bytes that outlive the call.
#[cfg_attr(feature = "shared-library", unsafe(no_mangle))]
pub unsafe extern "C" fn ordain_enter(config: *const u8, length: usize) -> i64 {
    // SAFETY: promised by the caller.
    let config = unsafe { slice(config, length) };
    match zygote::enter(config) {
        Ok(proc_folder) => i64::from(proc_folder),
        Err(failure) => -pack(failure),
    }
}

/// Serves orders on the control socket. Returns in every new cell, locked down: 1 if it will be idle, 0 if not; in the zygote it returns only a
/// packed failure (negative).
///
/// # Safety
/// The filters must point to that many 64-bit instructions each, which outlive the process.
#[cfg_attr(feature = "shared-library", unsafe(no_mangle))]
pub unsafe extern "C" fn ordain_serve(
    control: c_int,
    proc_folder: c_int,
    options: u32,
    zygote_filter: *const u64,
    zygote_filter_length: usize,
    cell_filter: *const u64,
    cell_filter_length: usize,
) -> i64 {
    // SAFETY: promised by the caller.
    let (zygote_filter, cell_filter) =
        unsafe { (filter(zygote_filter, zygote_filter_length), filter(cell_filter, cell_filter_length)) };
    let jail =
        cell::Jail { control, proc_folder, filter: cell_filter, options: cell::Options::from_bits(options) };
    match zygote::serve(&jail, zygote_filter) {
        Ok(order) => i64::from(order.is_idle),
        Err(failure) => -pack(failure),
    }
}

/// Has the kernel kill this process when its parent dies. Returns an error number, or 0.
#[cfg_attr(feature = "shared-library", unsafe(no_mangle))]
pub extern "C" fn ordain_die_with_parent() -> c_int {
    die_with_parent().err().unwrap_or(0)
}

#[cfg(feature = "shared-library")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    exit(101)
}
