//! The zygote: enters its own jail once, then forks cells.
//!
//! The loop that forks is Rust and not Python on purpose: a parent that runs no bytecode between two forks touches
//! none of the pages it shares with its cells, so it does not pay to copy them again each time.

use core::ffi::{CStr, c_int};

use crate::cell::{self, Filter, Jail};
use crate::config::Entries;
use crate::control::{ORDER_DESCRIPTORS, Order, Report};
use crate::root;
use crate::step::{At, Failure, Outcome, Step};
use crate::sys::{self, EINTR, EINVAL, EPERM, Side, Wait};

/// New user namespace.
pub(crate) const NEW_USER: u64 = 0x1000_0000;
/// New mount namespace.
pub(crate) const NEW_MOUNT: u64 = 0x2_0000;
/// New process namespace.
pub(crate) const NEW_PROCESS: u64 = 0x2000_0000;
/// New network namespace.
pub(crate) const NEW_NETWORK: u64 = 0x4000_0000;
/// New namespace for System V IPC and POSIX message queues.
pub(crate) const NEW_IPC: u64 = 0x800_0000;
/// New namespace for the host's name.
pub(crate) const NEW_HOSTNAME: u64 = 0x400_0000;

const ALL_NAMESPACES: u64 = NEW_USER | NEW_MOUNT | NEW_PROCESS | NEW_NETWORK | NEW_IPC | NEW_HOSTNAME;

/// The user that a zygote of the superuser becomes. Limits on processes do not hold for user 0, and a file that
/// only the superuser may read must stay so in a cell.
const NOBODY: u32 = 65_534;

/// More cells than this at once are refused; it bounds the table of the loop.
const CELLS_MAX: usize = 1024;

/// Enters the zygote's jail and returns a descriptor of the host's `/proc`, through which identity maps are
/// written. The next fork starts the new process namespace.
pub fn enter(config: &[u8]) -> Outcome<c_int> {
    const O_PATH_DIRECTORY_CLOEXEC: c_int = 0o10_000_000 | 0o200_000 | 0o2_000_000;
    let proc_folder =
        sys::open_at(sys::CURRENT_FOLDER, c"/proc", O_PATH_DIRECTORY_CLOEXEC, 0).at(Step::OpenProc)?;
    let entries = Entries::new(config);
    if sys::identity().0 == 0 {
        enter_as_superuser(proc_folder, entries)?;
    } else {
        enter_as_user(proc_folder, entries)?;
    }
    sys::forbid_new_privileges().at(Step::NoNewPrivileges)?;
    Ok(proc_folder)
}

/// The superuser may read paths that nobody else can, such as an interpreter below its home; so it builds the root
/// first and becomes somebody else afterwards.
fn enter_as_superuser(proc_folder: c_int, entries: Entries<'_>) -> Outcome<()> {
    sys::unshare(NEW_MOUNT).at(Step::ZygoteNamespaces)?;
    root::build(entries)?;
    match sys::become_user(NOBODY, NOBODY) {
        Ok(()) => {}
        // In a container whose superuser is an ordinary user outside, no other user may exist and no group be left.
        // That superuser is not user 0 of the host, which is what this step is for.
        Err(EINVAL | EPERM) if !is_superuser_outside(proc_folder) => {}
        Err(errno) => return Err(Failure { step: Step::DropSuperuser, errno }),
    }
    // Changing the user made /proc/self the superuser's; the maps could not be written.
    sys::set_dumpable(true).at(Step::DropSuperuser)?;
    new_identity(proc_folder)
}

/// Whether the superuser here is, as far as can be told, also the one outside this user namespace.
fn is_superuser_outside(proc_folder: c_int) -> bool {
    const O_RDONLY_CLOEXEC: c_int = 0o2_000_000;
    let mut text = [0; 128];
    let read = sys::open_at(proc_folder, c"self/uid_map", O_RDONLY_CLOEXEC, 0).and_then(|file| {
        let read = sys::read(file, &mut text);
        sys::close(file).and(read)
    });
    read.map_or(true, |length| outside_of_first(&text[..length]) != Some(false))
}

/// Of a map's first line, which is `inside outside count`: whether inside and outside are both 0.
fn outside_of_first(map: &[u8]) -> Option<bool> {
    let line = map.split(|byte| *byte == b'\n').next()?;
    let mut numbers = line.split(|byte| *byte == b' ').filter(|number| !number.is_empty());
    let (inside, outside) = (numbers.next()?, numbers.next()?);
    (inside == b"0").then_some(outside == b"0")
}

/// An ordinary user needs the user namespace before anything can be mounted.
fn enter_as_user(proc_folder: c_int, entries: Entries<'_>) -> Outcome<()> {
    new_identity(proc_folder)?;
    root::build(entries)
}

fn new_identity(proc_folder: c_int) -> Outcome<()> {
    let (user, group) = sys::identity();
    sys::unshare(ALL_NAMESPACES).at(Step::ZygoteNamespaces)?;
    write_maps(proc_folder, (0, user), (0, group)).at(Step::IdentityMaps)?;
    // Cells copy this name; the host's own stays outside.
    sys::set_host_name(b"cell").at(Step::ZygoteNamespaces)
}

/// Maps one user and one group of the process's new user namespace, each as (inside, outside).
pub(crate) fn write_maps(proc_folder: c_int, user: (u32, u32), group: (u32, u32)) -> Result<(), i32> {
    write_file(proc_folder, c"self/setgroups", b"deny")?;
    let mut text = [0; 32];
    let length = map_line(&mut text, user);
    write_file(proc_folder, c"self/uid_map", &text[..length])?;
    let length = map_line(&mut text, group);
    write_file(proc_folder, c"self/gid_map", &text[..length])
}

pub(crate) fn write_file(folder: c_int, path: &CStr, bytes: &[u8]) -> Result<(), i32> {
    const O_WRONLY_CLOEXEC: c_int = 0o1 | 0o2_000_000;
    let file = sys::open_at(folder, path, O_WRONLY_CLOEXEC, 0)?;
    let written = sys::write(file, bytes);
    sys::close(file)?;
    written
}

/// Writes `inside outside 1` and returns its length.
fn map_line(into: &mut [u8; 32], (inside, outside): (u32, u32)) -> usize {
    let mut at = write_number(into, 0, u64::from(inside));
    into[at] = b' ';
    at = write_number(into, at + 1, u64::from(outside));
    into[at] = b' ';
    into[at + 1] = b'1';
    at + 2
}

/// Writes a decimal number at a position and returns the position after it.
pub(crate) fn write_number(into: &mut [u8], at: usize, number: u64) -> usize {
    let digits = number.checked_ilog10().unwrap_or(0) as usize + 1;
    let mut rest = number;
    for slot in into[at..at + digits].iter_mut().rev() {
        *slot = b'0' + u8::try_from(rest % 10).unwrap_or(0);
        rest /= 10;
    }
    at + digits
}

/// A cell that the zygote has forked and not yet reaped.
#[derive(Clone, Copy)]
struct Child {
    cell: u64,
    process: c_int,
    descriptor: c_int,
}

/// The cells alive, beside the list of what to wait for: the control socket first, then each cell's descriptor.
struct Children {
    cells: [Child; CELLS_MAX],
    waits: [Wait; CELLS_MAX + 1],
    count: usize,
}

/// Serves orders until the supervisor is gone. Returns the order in each new cell, never in the zygote.
pub fn serve(jail: &Jail<'_>, filter: Filter<'_>) -> Outcome<Order> {
    sys::install_filter(filter).at(Step::ZygoteFilter)?;
    report(jail.control, Report::Serving)?;
    let nobody = Child { cell: 0, process: 0, descriptor: -1 };
    let mut children = Children {
        cells: [nobody; CELLS_MAX],
        waits: [Wait::readable(jail.control); CELLS_MAX + 1],
        count: 0,
    };
    loop {
        match sys::wait_any(&mut children.waits[..=children.count]) {
            Ok(()) => {}
            Err(EINTR) => continue,
            Err(errno) => return Err(Failure { step: Step::Receive, errno }),
        }
        reap_ended(jail.control, &mut children)?;
        if children.waits[0].is_ready()
            && let Some(order) = take_order(jail, &mut children)?
        {
            return Ok(order);
        }
    }
}

/// Reaps every cell that has ended and reports how.
fn reap_ended(control: c_int, children: &mut Children) -> Outcome<()> {
    for at in (0..children.count).rev() {
        if !children.waits[at + 1].is_ready() {
            continue;
        }
        let child = children.cells[at];
        let ended = sys::reap(child.process).at(Step::Receive)?;
        sys::close(child.descriptor).at(Step::Receive)?;
        children.count -= 1;
        children.cells[at] = children.cells[children.count];
        children.waits[at + 1] = children.waits[children.count + 1];
        let sys::Ended { status, cpu_us, resident_kib } = ended;
        report(control, Report::Ended { cell: child.cell, status, cpu_us, resident_kib })?;
    }
    Ok(())
}

/// Takes one order and forks its cell, in which it is returned. The zygote ends, and all cells with it, when the
/// supervisor is gone.
fn take_order(jail: &Jail<'_>, children: &mut Children) -> Outcome<Option<Order>> {
    let received = match sys::receive(jail.control) {
        Err(EINTR) => return Ok(None),
        received => received.at(Step::Receive)?,
    };
    if received.length == 0 {
        sys::exit(0);
    }
    let order = Order::decode(&received.message[..received.length])
        .filter(|_| received.descriptors.iter().filter(|it| **it >= 0).count() == ORDER_DESCRIPTORS)
        .ok_or(Failure { step: Step::Receive, errno: EINVAL })?;
    if fork_cell(jail, &order, received.descriptors, children)? == Side::Child {
        return Ok(Some(order));
    }
    for descriptor in received.descriptors {
        sys::close(descriptor).at(Step::Receive)?;
    }
    Ok(None)
}

fn fork_cell(
    jail: &Jail<'_>,
    order: &Order,
    descriptors: [c_int; 3],
    children: &mut Children,
) -> Outcome<Side> {
    const EAGAIN: i32 = 11;
    let network = if order.own_network { NEW_NETWORK } else { 0 };
    let namespaces = NEW_USER | NEW_PROCESS | NEW_MOUNT | NEW_IPC | NEW_HOSTNAME | network;
    let has_room = children.count < CELLS_MAX;
    let side = if has_room { sys::clone_process(namespaces) } else { Err(EAGAIN) };
    match side {
        Err(errno) => {
            let step = Step::CloneCell as u8;
            report(jail.control, Report::Failed { cell: order.cell, step, errno })?;
            Ok(Side::Parent { process: 0, descriptor: -1 })
        }
        Ok(Side::Child) => {
            if let Err(failure) = cell::lock_down(jail, order, descriptors) {
                let Failure { step, errno } = failure;
                // Nothing is left to tell if the report fails as well: the supervisor sees the cell end.
                let _ = report(jail.control, Report::Failed { cell: order.cell, step: step as u8, errno });
                sys::exit(1);
            }
            Ok(Side::Child)
        }
        Ok(Side::Parent { process, descriptor }) => {
            children.cells[children.count] = Child { cell: order.cell, process, descriptor };
            children.waits[children.count + 1] = Wait::readable(descriptor);
            children.count += 1;
            let forked = Report::Forked { cell: order.cell };
            sys::send(jail.control, &forked.encode(), Some(descriptor)).at(Step::Report)?;
            Ok(Side::Parent { process, descriptor })
        }
    }
}

pub(crate) fn report(control: c_int, report: Report) -> Outcome<()> {
    sys::send(control, &report.encode(), None).at(Step::Report)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_tells_whether_the_superuser_is_one_outside() {
        assert_eq!(outside_of_first(b"         0          0 4294967295\n"), Some(true));
        assert_eq!(
            outside_of_first(b"         0       1000          1\n         1     100000      65536\n"),
            Some(false)
        );
        assert_eq!(outside_of_first(b"      1000          0          1\n"), None);
        assert_eq!(outside_of_first(b""), None);
    }

    #[test]
    fn map_lines_are_decimal() {
        let mut text = [0; 32];
        let length = map_line(&mut text, (1000, 0));
        assert_eq!(&text[..length], b"1000 0 1");
        let length = map_line(&mut text, (0, u32::MAX));
        assert_eq!(&text[..length], b"0 4294967295 1");
    }
}
