//! The messages on the control socket between supervisor and zygote.
//!
//! The socket keeps message boundaries. Orders carry the cell's descriptors; reports carry the descriptors by which
//! the supervisor holds the cell. Only the zygote and cells that have not yet run plan code can write here.

/// The length of every message.
pub const MESSAGE_BYTES: usize = 48;

/// How many descriptors an order carries: wire, stdout, stderr.
pub const ORDER_DESCRIPTORS: usize = 3;

/// An order to fork a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order {
    /// The supervisor's number for the cell.
    pub cell: u64,
    /// The size of the work folder.
    pub work_bytes: u64,
    /// How many files and folders the work folder may hold.
    pub work_inodes: u64,
    /// How much the cell may write to the folder on disk that its zygote shows; 0 where there is none.
    pub scratch_bytes: u64,
    /// Whether the cell gets a network namespace of its own instead of the zygote's empty one.
    pub own_network: bool,
    /// Whether the cell will be idle for a while, and so should warm up before it reports.
    pub is_idle: bool,
}

/// What the zygote and its cells tell the supervisor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Report {
    /// The zygote is in its jail and takes orders.
    Serving,
    /// A cell was forked; carries its process descriptor.
    Forked {
        /// The supervisor's number for the cell.
        cell: u64,
    },
    /// A cell is locked down; carries the descriptor of its work folder.
    Locked {
        /// The supervisor's number for the cell.
        cell: u64,
    },
    /// A cell ended and was reaped.
    Ended {
        /// The supervisor's number for the cell.
        cell: u64,
        /// Its wait status, as `waitpid` gives it.
        status: i32,
        /// User and system time together, in microseconds.
        cpu_us: u64,
        /// Its largest resident size in KiB.
        resident_kib: u64,
    },
    /// A step failed. `cell` is 0 for the zygote itself.
    Failed {
        /// The supervisor's number for the cell, or 0.
        cell: u64,
        /// The number of the step.
        step: u8,
        /// The kernel's error number.
        errno: i32,
    },
}

impl Order {
    /// The order as it travels.
    pub fn encode(&self) -> [u8; MESSAGE_BYTES] {
        let mut message = [0; MESSAGE_BYTES];
        message[0] = b'o';
        message[1] = u8::from(self.own_network);
        message[2] = u8::from(self.is_idle);
        put(&mut message, 8, self.cell);
        put(&mut message, 16, self.work_bytes);
        put(&mut message, 24, self.work_inodes);
        put(&mut message, 32, self.scratch_bytes);
        message
    }

    /// Reads an order.
    pub fn decode(message: &[u8]) -> Option<Self> {
        let message: &[u8; MESSAGE_BYTES] = message.try_into().ok()?;
        if message[0] != b'o' {
            return None;
        }
        Some(Self {
            cell: get(message, 8),
            work_bytes: get(message, 16),
            work_inodes: get(message, 24),
            scratch_bytes: get(message, 32),
            own_network: message[1] != 0,
            is_idle: message[2] != 0,
        })
    }
}

impl Report {
    /// The report as it travels.
    pub fn encode(&self) -> [u8; MESSAGE_BYTES] {
        let mut message = [0; MESSAGE_BYTES];
        match *self {
            Self::Serving => message[0] = b's',
            Self::Forked { cell } => {
                message[0] = b'f';
                put(&mut message, 8, cell);
            }
            Self::Locked { cell } => {
                message[0] = b'l';
                put(&mut message, 8, cell);
            }
            Self::Ended { cell, status, cpu_us, resident_kib } => {
                message[0] = b'e';
                put(&mut message, 8, cell);
                message[4..8].copy_from_slice(&status.to_le_bytes());
                put(&mut message, 16, cpu_us);
                put(&mut message, 24, resident_kib);
            }
            Self::Failed { cell, step, errno } => {
                message[0] = b'x';
                message[1] = step;
                message[4..8].copy_from_slice(&errno.to_le_bytes());
                put(&mut message, 8, cell);
            }
        }
        message
    }

    /// Reads a report.
    pub fn decode(message: &[u8]) -> Option<Self> {
        let message: &[u8; MESSAGE_BYTES] = message.try_into().ok()?;
        let cell = get(message, 8);
        let number = i32::from_le_bytes([message[4], message[5], message[6], message[7]]);
        Some(match message[0] {
            b's' => Self::Serving,
            b'f' => Self::Forked { cell },
            b'l' => Self::Locked { cell },
            b'e' => {
                Self::Ended { cell, status: number, cpu_us: get(message, 16), resident_kib: get(message, 24) }
            }
            b'x' => Self::Failed { cell, step: message[1], errno: number },
            _ => return None,
        })
    }
}

fn put(message: &mut [u8; MESSAGE_BYTES], at: usize, value: u64) {
    message[at..at + 8].copy_from_slice(&value.to_le_bytes());
}

fn get(message: &[u8; MESSAGE_BYTES], at: usize) -> u64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&message[at..at + 8]);
    u64::from_le_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_read_back_as_written() {
        let order = Order {
            cell: 7,
            work_bytes: 1 << 40,
            work_inodes: 4096,
            scratch_bytes: 1 << 33,
            own_network: true,
            is_idle: true,
        };
        assert_eq!(Order::decode(&order.encode()), Some(order));
        for report in [
            Report::Serving,
            Report::Forked { cell: 1 },
            Report::Locked { cell: u64::MAX },
            Report::Ended { cell: 3, status: 9, cpu_us: 12, resident_kib: 55 },
            Report::Failed { cell: 0, step: 4, errno: 1 },
        ] {
            assert_eq!(Report::decode(&report.encode()), Some(report));
        }
    }

    #[test]
    fn a_message_of_another_length_or_kind_is_refused() {
        assert_eq!(Report::decode(b""), None);
        assert_eq!(Report::decode(&[0; MESSAGE_BYTES]), None);
        assert_eq!(Order::decode(&[0; MESSAGE_BYTES + 1]), None);
    }
}
