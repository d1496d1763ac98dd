//! The system calls that a cell may make, as data with reasons, and the filters made from them.
//!
//! Two filters act together. The **zygote's** is the long one: an allowlist of what interpreters and libraries need,
//! plus the few calls that forking and locking down a cell take. It is installed once and inherited. The **cell's**
//! is short and takes those few calls away again. A call that neither names answers `ENOSYS`, so that libraries that
//! try a newer call fall back to an older one.

use libc::c_long;

/// What a filter does with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    Allow,
    Refuse(i32),
}

/// When a call is allowed.
#[derive(Debug, Clone, Copy)]
enum Rule {
    /// Always.
    Always,
    /// Never; the error is the one that a program can best deal with.
    Never(i32),
    /// When the argument, masked, is one of the values; otherwise the error.
    When { argument: u32, mask: u32, values: &'static [u32], otherwise: i32 },
    /// Unless the argument has all bits of one of these sets; then the error.
    Unless { argument: u32, bits: &'static [u32], otherwise: i32 },
    /// As [`Rule::When`]; calls with the pretended values do nothing and succeed.
    WhenOrPretend { argument: u32, values: &'static [u32], pretended: &'static [u32], otherwise: i32 },
    /// It does nothing and succeeds.
    Pretend,
    /// When the 64-bit argument is zero; otherwise the error.
    WhenZero { argument: u32, otherwise: i32 },
}

/// Everything that a thread shares with its process: memory, folders, descriptors, signals, and the rest. One that does
/// not share the table of descriptors would have a limit on descriptors of its own.
const THREAD: u32 = 0x3d_0f00;
/// The same with a flag that means nothing any more, as another C library asks for it.
const THREAD_DETACHED: u32 = 0x7d_0f00;
const MAP_SHARED_ANONYMOUS: u32 = 0x21;
const MAP_GROWS_DOWN: u32 = 0x100;
const MAP_HUGE_PAGES: u32 = 0x4_0000;

/// Calls whose arguments decide. They stand first, because the kernel caches the plain ones.
const BY_ARGUMENT: &[(c_long, Rule)] = &[
    // Threads, never processes: limits are kept for each process, and a cell is one.
    (
        libc::SYS_clone,
        Rule::When {
            argument: 0,
            mask: u32::MAX,
            values: &[THREAD, THREAD_DETACHED],
            otherwise: libc::EPERM,
        },
    ),
    // Shared anonymous memory, stacks that grow by themselves and huge pages would not count against the memory
    // limit. It is not for want of memory that they are refused, so the error does not say so.
    (
        libc::SYS_mmap,
        Rule::Unless {
            argument: 3,
            bits: &[MAP_SHARED_ANONYMOUS, MAP_GROWS_DOWN, MAP_HUGE_PAGES],
            otherwise: libc::EPERM,
        },
    ),
    // A pair of connected sockets inside the cell is what event loops wake themselves with.
    (
        libc::SYS_socketpair,
        Rule::When {
            argument: 0,
            mask: u32::MAX,
            values: &[libc::AF_UNIX.cast_unsigned()],
            otherwise: libc::EPERM,
        },
    ),
    // On such a pair, and never to an address.
    (libc::SYS_sendto, Rule::WhenZero { argument: 4, otherwise: libc::EPERM }),
    // isatty, window size, non-blocking mode, bytes waiting, close-on-exec.
    (
        libc::SYS_ioctl,
        Rule::When {
            argument: 1,
            mask: u32::MAX,
            values: &[0x5401, 0x5413, 0x5421, 0x541b, 0x5450, 0x5451],
            otherwise: libc::ENOTTY,
        },
    ),
    // Copies and flags of descriptors. Larger pipes are memory of the kernel; leases, notifications and locks reach other
    // processes through files that many see. A cell is one process, and locks of one process never stand in each other's
    // way: taking one does nothing and succeeds, so that SQLite works, and asking tells that none is in the way.
    (
        libc::SYS_fcntl,
        Rule::WhenOrPretend {
            argument: 1,
            values: &[
                libc::F_DUPFD.cast_unsigned(),
                libc::F_DUPFD_CLOEXEC.cast_unsigned(),
                libc::F_GETFD.cast_unsigned(),
                libc::F_SETFD.cast_unsigned(),
                libc::F_GETFL.cast_unsigned(),
                libc::F_SETFL.cast_unsigned(),
                libc::F_GETLK.cast_unsigned(),
                libc::F_GETPIPE_SZ.cast_unsigned(),
            ],
            pretended: &[libc::F_SETLK.cast_unsigned(), libc::F_SETLKW.cast_unsigned()],
            otherwise: libc::EPERM,
        },
    ),
    (libc::SYS_flock, Rule::Pretend),
    // Closing, now or at the next program. The third flag would give the thread a table of descriptors of its own.
    (
        libc::SYS_close_range,
        Rule::When {
            argument: 2,
            mask: u32::MAX,
            values: &[0, libc::CLOSE_RANGE_CLOEXEC],
            otherwise: libc::EPERM,
        },
    ),
];

/// Calls that are always allowed, by what they are needed for.
const ALWAYS: &[c_long] = &[
    // Memory of the cell itself.
    libc::SYS_brk,
    libc::SYS_munmap,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_mincore,
    libc::SYS_msync,
    libc::SYS_membarrier,
    // Reading and writing what is open.
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_pread64,
    libc::SYS_pwrite64,
    libc::SYS_preadv,
    libc::SYS_pwritev,
    libc::SYS_preadv2,
    libc::SYS_pwritev2,
    libc::SYS_lseek,
    libc::SYS_close,
    libc::SYS_dup,
    libc::SYS_dup3,
    libc::SYS_pipe2,
    libc::SYS_ftruncate,
    libc::SYS_fallocate,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_fadvise64,
    libc::SYS_copy_file_range,
    libc::SYS_sendfile,
    // Paths: the mounts and Landlock decide which.
    libc::SYS_openat,
    libc::SYS_newfstatat,
    libc::SYS_fstat,
    libc::SYS_statx,
    libc::SYS_statfs,
    libc::SYS_fstatfs,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_readlinkat,
    libc::SYS_getdents64,
    libc::SYS_getcwd,
    libc::SYS_chdir,
    libc::SYS_fchdir,
    libc::SYS_mkdirat,
    libc::SYS_unlinkat,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_linkat,
    libc::SYS_symlinkat,
    libc::SYS_truncate,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_umask,
    libc::SYS_utimensat,
    libc::SYS_getxattr,
    libc::SYS_lgetxattr,
    libc::SYS_fgetxattr,
    libc::SYS_listxattr,
    libc::SYS_llistxattr,
    libc::SYS_flistxattr,
    // Waiting for descriptors.
    libc::SYS_ppoll,
    libc::SYS_pselect6,
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
    libc::SYS_eventfd2,
    libc::SYS_timerfd_create,
    libc::SYS_timerfd_settime,
    libc::SYS_timerfd_gettime,
    // A connected pair of sockets.
    libc::SYS_recvfrom,
    libc::SYS_shutdown,
    libc::SYS_getsockopt,
    libc::SYS_getsockname,
    libc::SYS_getpeername,
    // Threads and locks.
    libc::SYS_futex,
    libc::SYS_set_robust_list,
    libc::SYS_get_robust_list,
    libc::SYS_set_tid_address,
    libc::SYS_rseq,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_getparam,
    libc::SYS_sched_getscheduler,
    libc::SYS_sched_get_priority_max,
    libc::SYS_sched_get_priority_min,
    libc::SYS_getpriority,
    libc::SYS_getcpu,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_wait4,
    libc::SYS_waitid,
    libc::SYS_restart_syscall,
    // Signals of the cell to itself; `tgkill` is what abort and raise use.
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_rt_sigpending,
    libc::SYS_rt_sigtimedwait,
    libc::SYS_rt_sigsuspend,
    libc::SYS_sigaltstack,
    libc::SYS_tgkill,
    // Clocks and timers.
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_gettimeofday,
    libc::SYS_times,
    libc::SYS_getitimer,
    libc::SYS_setitimer,
    libc::SYS_timer_create,
    libc::SYS_timer_settime,
    libc::SYS_timer_gettime,
    libc::SYS_timer_delete,
    // Who and where am I.
    libc::SYS_getpid,
    libc::SYS_getppid,
    libc::SYS_gettid,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getegid,
    libc::SYS_getresuid,
    libc::SYS_getresgid,
    libc::SYS_getgroups,
    libc::SYS_getpgid,
    libc::SYS_getsid,
    libc::SYS_uname,
    libc::SYS_sysinfo,
    libc::SYS_getrusage,
    libc::SYS_getrandom,
    // Limits can only be lowered: the cell has no capability to raise them.
    libc::SYS_prlimit64,
    libc::SYS_getrlimit,
    libc::SYS_setrlimit,
];

/// Older forms of calls above, which only some architectures have.
#[cfg(target_arch = "x86_64")]
const ALWAYS_HERE: &[c_long] = &[
    libc::SYS_open,
    libc::SYS_stat,
    libc::SYS_lstat,
    libc::SYS_access,
    libc::SYS_readlink,
    libc::SYS_getdents,
    libc::SYS_mkdir,
    libc::SYS_rmdir,
    libc::SYS_unlink,
    libc::SYS_rename,
    libc::SYS_link,
    libc::SYS_symlink,
    libc::SYS_chmod,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
    libc::SYS_dup2,
    libc::SYS_pipe,
    libc::SYS_poll,
    libc::SYS_select,
    libc::SYS_epoll_create,
    libc::SYS_epoll_wait,
    libc::SYS_eventfd,
    libc::SYS_arch_prctl,
    libc::SYS_getpgrp,
    libc::SYS_time,
    libc::SYS_alarm,
    libc::SYS_pause,
];
#[cfg(not(target_arch = "x86_64"))]
const ALWAYS_HERE: &[c_long] = &[];

/// Everyday calls that a program should see refused as a permission, not as missing.
const REFUSED: &[c_long] = &[
    libc::SYS_socket,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_execve,
    libc::SYS_execveat,
    libc::SYS_ptrace,
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_chroot,
    libc::SYS_mknodat,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_setuid,
    libc::SYS_setgid,
    libc::SYS_setresuid,
    libc::SYS_setresgid,
    libc::SYS_setreuid,
    libc::SYS_setregid,
    libc::SYS_setgroups,
    libc::SYS_setsid,
    libc::SYS_setpgid,
    libc::SYS_setpriority,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setparam,
    libc::SYS_memfd_create,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
];
#[cfg(target_arch = "x86_64")]
const REFUSED_HERE: &[c_long] =
    &[libc::SYS_fork, libc::SYS_vfork, libc::SYS_mknod, libc::SYS_chown, libc::SYS_lchown];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: &[c_long] = &[];

/// What forking and locking down a cell takes, and what plan code must not have. The error is the cell's.
const ZYGOTE_ONLY: &[(c_long, i32)] = &[
    // Threads are started with clone3 where it exists; only ENOSYS makes libc fall back to clone.
    (libc::SYS_clone3, libc::ENOSYS),
    (libc::SYS_sendmsg, libc::EPERM),
    (libc::SYS_recvmsg, libc::EPERM),
    (libc::SYS_mount, libc::EPERM),
    (libc::SYS_capset, libc::EPERM),
    (libc::SYS_seccomp, libc::EPERM),
    (libc::SYS_landlock_create_ruleset, libc::EPERM),
    (libc::SYS_landlock_add_rule, libc::EPERM),
    (libc::SYS_landlock_restrict_self, libc::EPERM),
];

/// Of `prctl`, a cell may name threads and memory and ask about itself.
const PRCTL: Rule = Rule::When {
    argument: 0,
    mask: u32::MAX,
    values: &[3, 15, 16, 21, 23, 39, 0x5356_4d41],
    otherwise: libc::EPERM,
};

/// The zygote's filter, as the kernel's instructions.
pub(crate) fn zygote_filter() -> Vec<u64> {
    let plain = ALWAYS.iter().chain(ALWAYS_HERE).map(|call| (*call, Rule::Always));
    let refused = REFUSED.iter().chain(REFUSED_HERE).map(|call| (*call, Rule::Never(libc::EPERM)));
    let own = ZYGOTE_ONLY.iter().map(|(call, _)| (*call, Rule::Always));
    let prctl = [(libc::SYS_prctl, Rule::Always)];
    let rules = BY_ARGUMENT.iter().copied().chain(plain).chain(prctl).chain(own).chain(refused);
    assemble(rules, Action::Refuse(libc::ENOSYS))
}

/// The cell's filter, on top of the zygote's.
pub(crate) fn cell_filter() -> Vec<u64> {
    let own = ZYGOTE_ONLY.iter().map(|(call, error)| (*call, Rule::Never(*error)));
    assemble([(libc::SYS_prctl, PRCTL)].into_iter().chain(own), Action::Allow)
}

const LOAD: u16 = 0x20;
const AND: u16 = 0x54;
const JUMP_EQUAL: u16 = 0x15;
const JUMP_AT_LEAST: u16 = 0x35;
const RETURN: u16 = 0x06;
const KILL_PROCESS: u32 = 0x8000_0000;
/// Where `struct seccomp_data` holds the call's number, the architecture and the arguments.
const NUMBER_AT: u32 = 0;
const ARCHITECTURE_AT: u32 = 4;
const ARGUMENTS_AT: u32 = 16;

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xc000_00b7;

/// Numbers from here on are calls of another ABI on the same architecture.
const OTHER_ABI: u32 = 0x4000_0000;

fn assemble(rules: impl IntoIterator<Item = (c_long, Rule)>, otherwise: Action) -> Vec<u64> {
    let mut program = vec![
        instruction(LOAD, 0, 0, ARCHITECTURE_AT),
        instruction(JUMP_EQUAL, 1, 0, ARCHITECTURE),
        instruction(RETURN, 0, 0, KILL_PROCESS),
        instruction(LOAD, 0, 0, NUMBER_AT),
        instruction(JUMP_AT_LEAST, 0, 1, OTHER_ABI),
        answer(Action::Refuse(libc::ENOSYS)),
    ];
    for (call, rule) in rules {
        let body = rule.assemble();
        let number = u32::try_from(call).expect("system call numbers are small and positive");
        let skip = u8::try_from(body.len()).expect("a rule has few instructions");
        program.push(instruction(JUMP_EQUAL, 0, skip, number));
        program.extend(body);
    }
    program.push(answer(otherwise));
    program
}

impl Rule {
    /// The instructions that answer a call which this rule is about.
    fn assemble(self) -> Vec<u64> {
        match self {
            Self::Always => vec![answer(Action::Allow)],
            Self::Never(error) => vec![answer(Action::Refuse(error))],
            Self::When { argument, mask, values, otherwise } => {
                compare(argument, mask, values, Action::Allow, Action::Refuse(otherwise))
            }
            Self::WhenOrPretend { argument, values, pretended, otherwise } => {
                let mut program = vec![instruction(LOAD, 0, 0, ARGUMENTS_AT + 8 * argument)];
                for (chosen, action) in [(values, Action::Allow), (pretended, Action::Refuse(0))] {
                    for value in chosen {
                        program.extend([instruction(JUMP_EQUAL, 0, 1, *value), answer(action)]);
                    }
                }
                program.push(answer(Action::Refuse(otherwise)));
                program
            }
            // An error of 0 is no error.
            Self::Pretend => vec![answer(Action::Refuse(0))],
            Self::Unless { argument, bits, otherwise } => {
                let mut program = Vec::new();
                for set in bits {
                    program.extend([
                        instruction(LOAD, 0, 0, ARGUMENTS_AT + 8 * argument),
                        instruction(AND, 0, 0, *set),
                        instruction(JUMP_EQUAL, 0, 1, *set),
                        answer(Action::Refuse(otherwise)),
                    ]);
                }
                program.push(answer(Action::Allow));
                program
            }
            Self::WhenZero { argument, otherwise } => {
                let at = ARGUMENTS_AT + 8 * argument;
                vec![
                    instruction(LOAD, 0, 0, at),
                    instruction(JUMP_EQUAL, 0, 2, 0),
                    instruction(LOAD, 0, 0, at + 4),
                    instruction(JUMP_EQUAL, 1, 0, 0),
                    answer(Action::Refuse(otherwise)),
                    answer(Action::Allow),
                ]
            }
        }
    }
}

/// Compares the lower half of an argument, which is all of it for flags and commands.
fn compare(argument: u32, mask: u32, values: &[u32], equal: Action, different: Action) -> Vec<u64> {
    let mut program =
        vec![instruction(LOAD, 0, 0, ARGUMENTS_AT + 8 * argument), instruction(AND, 0, 0, mask)];
    for (at, value) in values.iter().enumerate() {
        let to_equal = u8::try_from(values.len() - at).expect("a rule has few values");
        program.push(instruction(JUMP_EQUAL, to_equal, 0, *value));
    }
    program.push(answer(different));
    program.push(answer(equal));
    program
}

fn answer(action: Action) -> u64 {
    const ALLOW: u32 = 0x7fff_0000;
    const REFUSE: u32 = 0x0005_0000;
    instruction(
        RETURN,
        0,
        0,
        match action {
            Action::Allow => ALLOW,
            Action::Refuse(error) => REFUSE | (error.cast_unsigned() & 0xffff),
        },
    )
}

/// One instruction in the kernel's layout: operation, two jump distances, operand.
fn instruction(operation: u16, if_true: u8, if_false: u8, operand: u32) -> u64 {
    let mut bytes = [0; 8];
    bytes[..2].copy_from_slice(&operation.to_ne_bytes());
    bytes[2] = if_true;
    bytes[3] = if_false;
    bytes[4..].copy_from_slice(&operand.to_ne_bytes());
    u64::from_ne_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_call_is_named_twice() {
        let mut seen = HashSet::new();
        let own = ZYGOTE_ONLY.iter().map(|(call, _)| call);
        let by_argument = BY_ARGUMENT.iter().map(|(call, _)| call);
        for call in
            ALWAYS.iter().chain(ALWAYS_HERE).chain(REFUSED).chain(REFUSED_HERE).chain(own).chain(by_argument)
        {
            assert!(seen.insert(*call), "system call {call} is named twice");
        }
    }

    #[test]
    fn the_filters_stay_within_what_the_kernel_takes() {
        // 4096 instructions for one program is the kernel's BPF_MAXINSNS.
        assert!(zygote_filter().len() < 4096);
        assert!(cell_filter().len() < 64);
    }

    /// Runs a filter as the kernel would, on a call of this architecture.
    fn judge(program: &[u64], number: c_long, arguments: [u64; 6]) -> u32 {
        let mut data = vec![u32::try_from(number).unwrap(), ARCHITECTURE, 0, 0];
        for argument in arguments {
            data.extend([(argument & 0xffff_ffff) as u32, (argument >> 32) as u32]);
        }
        let (mut at, mut value) = (0, 0_u32);
        loop {
            let bytes = program[at].to_ne_bytes();
            let operation = u16::from_ne_bytes([bytes[0], bytes[1]]);
            let operand = u32::from_ne_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]);
            at += 1;
            match operation {
                LOAD => value = data[operand as usize / 4],
                AND => value &= operand,
                JUMP_EQUAL => at += usize::from(if value == operand { bytes[2] } else { bytes[3] }),
                JUMP_AT_LEAST => at += usize::from(if value >= operand { bytes[2] } else { bytes[3] }),
                RETURN => return operand,
                other => panic!("unknown operation {other}"),
            }
        }
    }

    const ALLOWED: u32 = 0x7fff_0000;

    fn refused(error: i32) -> u32 {
        0x0005_0000 | u32::try_from(error).unwrap()
    }

    #[test]
    fn threads_may_be_started_and_processes_not() {
        let filter = zygote_filter();
        for thread in [THREAD, THREAD_DETACHED] {
            assert_eq!(judge(&filter, libc::SYS_clone, [u64::from(thread), 0, 0, 0, 0, 0]), ALLOWED);
        }
        for bit in 0..32 {
            // A thread that shares less, or asks for more, is none that a library starts.
            let flags = u64::from(THREAD ^ (1 << bit));
            let expected = if flags == u64::from(THREAD_DETACHED) { ALLOWED } else { refused(libc::EPERM) };
            assert_eq!(judge(&filter, libc::SYS_clone, [flags, 0, 0, 0, 0, 0]), expected, "{flags:x}");
        }
        assert_eq!(judge(&filter, libc::SYS_clone, [17, 0, 0, 0, 0, 0]), refused(libc::EPERM));
        assert_eq!(judge(&cell_filter(), libc::SYS_clone3, [0; 6]), refused(libc::ENOSYS));
    }

    #[test]
    fn arguments_decide_about_memory_sockets_and_devices() {
        let filter = zygote_filter();
        assert_eq!(judge(&filter, libc::SYS_mmap, [0, 4096, 3, 0x22, u64::MAX, 0]), ALLOWED);
        assert_eq!(judge(&filter, libc::SYS_mmap, [0, 4096, 3, 0x21, u64::MAX, 0]), refused(libc::EPERM));
        assert_eq!(judge(&filter, libc::SYS_mmap, [0, 4096, 3, 0x122, u64::MAX, 0]), refused(libc::EPERM));
        assert_eq!(judge(&filter, libc::SYS_mmap, [0, 4096, 3, 0x4_0022, u64::MAX, 0]), refused(libc::EPERM));
        assert_eq!(judge(&filter, libc::SYS_mmap, [0, 4096, 1, 0x1, 5, 0]), ALLOWED);
        assert_eq!(judge(&filter, libc::SYS_fcntl, [0, 1031, 0, 0, 0, 0]), refused(libc::EPERM));
        for command in 0..2000 {
            let expected = match command {
                0..=5 | 1030 | 1032 => ALLOWED,
                // Locks are pretended: an error of 0.
                6 | 7 => refused(0),
                _ => refused(libc::EPERM),
            };
            assert_eq!(judge(&filter, libc::SYS_fcntl, [0, command, 0, 0, 0, 0]), expected, "{command}");
        }
        assert_eq!(judge(&filter, libc::SYS_flock, [0, 2, 0, 0, 0, 0]), refused(0));
        for flags in 0..16 {
            let expected = if matches!(flags, 0 | 4) { ALLOWED } else { refused(libc::EPERM) };
            assert_eq!(judge(&filter, libc::SYS_close_range, [3, 9, flags, 0, 0, 0]), expected, "{flags}");
        }
        assert_eq!(judge(&filter, libc::SYS_socketpair, [1, 1, 0, 0, 0, 0]), ALLOWED);
        assert_eq!(judge(&filter, libc::SYS_socketpair, [2, 1, 0, 0, 0, 0]), refused(libc::EPERM));
        assert_eq!(judge(&filter, libc::SYS_sendto, [3, 0, 1, 0, 0, 0]), ALLOWED);
        assert_eq!(judge(&filter, libc::SYS_sendto, [3, 0, 1, 0, 1 << 40, 16]), refused(libc::EPERM));
        assert_eq!(judge(&filter, libc::SYS_ioctl, [0, 0x5401, 0, 0, 0, 0]), ALLOWED);
        assert_eq!(judge(&filter, libc::SYS_ioctl, [0, 0x5412, 0, 0, 0, 0]), refused(libc::ENOTTY));
        assert_eq!(judge(&cell_filter(), libc::SYS_prctl, [39, 0, 0, 0, 0, 0]), ALLOWED);
        assert_eq!(judge(&cell_filter(), libc::SYS_prctl, [4, 1, 0, 0, 0, 0]), refused(libc::EPERM));
    }

    #[test]
    fn unknown_calls_and_other_abis_are_missing() {
        let filter = zygote_filter();
        assert_eq!(judge(&filter, libc::SYS_swapon, [0; 6]), refused(libc::ENOSYS));
        assert_eq!(judge(&filter, 0x4000_0027, [0; 6]), refused(libc::ENOSYS));
        assert_eq!(judge(&filter, libc::SYS_socket, [0; 6]), refused(libc::EPERM));
    }
}
