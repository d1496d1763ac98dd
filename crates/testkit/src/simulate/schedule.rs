//! What happens, decided by a number.

use std::fmt;

/// The database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    /// Tables that the store makes.
    Sqlite,
    /// Tables that were there before.
    Postgres,
}

impl fmt::Display for Base {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
        })
    }
}

/// One call of a plan. Rows are named by small numbers, so that plans meet.
#[derive(Debug, Clone, PartialEq)]
pub enum Call {
    /// Adds an item with this key.
    Insert(u64),
    /// Adds an item with the next key.
    InsertNext,
    /// Adds an order of an item.
    Order(u64, u64),
    /// Gives an item a price and a number.
    Update(u64, i32),
    /// Raises the number of every item.
    UpdateAll,
    /// Gives an item another key.
    Rename(u64, u64),
    /// Writes a note of an order, which is nested.
    Note(u64, i32),
    /// Removes an item, and on PostgreSQL its orders with it.
    Remove(u64),
    /// Removes an order.
    RemoveOrder(u64),
    /// Counts by SQL.
    Query,
    /// Somebody else writes a row meanwhile.
    Outside(u64, i32),
}

/// What becomes of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It is committed.
    Commit,
    /// It waits for approval.
    Hold,
    /// Its client goes away.
    Drop,
}

/// What goes wrong during a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    None,
    /// The operation of this number fails.
    Operation(u32),
    /// The connection is lost before the end (PostgreSQL).
    Connection,
    /// The disk is full (SQLite).
    FullDisk,
    /// What is flushed does not reach the disk, once (SQLite).
    Flush,
}

/// One thing that happens.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// A client runs a plan.
    Plan(Vec<Call>, End, Fault),
    /// Two clients run plans side by side, call by call.
    Two(Vec<Call>, Vec<Call>),
    /// A held run is approved, counted from the newest.
    Approve(usize, Fault),
    /// A committed run is taken back, counted from the newest.
    Undo(usize, Fault),
    /// Others write.
    Outside(u64, i32),
    /// Others change the schema; the number says how.
    Schema(u64),
    /// The clock jumps by so many hours.
    Clock(i64),
    /// The process is killed while a plan runs, and started again.
    Kill(Vec<Call>),
    /// The process ends and is started again.
    Restart,
}

/// A row of steps.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    /// Where.
    pub base: Base,
    /// What.
    pub steps: Vec<Step>,
}

const STEPS: u64 = 24;
const CALLS: u64 = 5;

/// Numbers that follow from the first one.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }

    fn small(&mut self) -> i32 {
        i32::try_from(self.below(1000)).unwrap_or(0) - 300
    }

    fn place(&mut self) -> usize {
        usize::try_from(self.below(3)).unwrap_or(0)
    }

    fn call(&mut self) -> Call {
        let (one, other) = (self.below(9), self.below(9));
        match self.below(16) {
            0 | 1 => Call::Insert(one),
            2 => Call::InsertNext,
            3 | 4 => Call::Order(one, other),
            5..=7 => Call::Update(one, self.small()),
            8 => Call::UpdateAll,
            9 => Call::Rename(one, other),
            10 => Call::Note(one, self.small()),
            11 | 12 => Call::Remove(one),
            13 => Call::RemoveOrder(one),
            14 => Call::Query,
            _ => Call::Outside(one, self.small()),
        }
    }

    fn calls(&mut self) -> Vec<Call> {
        (0..=self.below(CALLS)).map(|_| self.call()).collect()
    }

    fn fault(&mut self, base: Base) -> Fault {
        match (self.below(12), base) {
            (0 | 1, _) => Fault::Operation(1 + u32::try_from(self.below(30)).unwrap_or(0)),
            (2, Base::Postgres) => Fault::Connection,
            (2, Base::Sqlite) => Fault::FullDisk,
            (3, Base::Sqlite) => Fault::Flush,
            _ => Fault::None,
        }
    }

    fn step(&mut self, base: Base) -> Step {
        match self.below(24) {
            0..=9 => {
                let end = match self.below(8) {
                    0..=4 => End::Commit,
                    5 | 6 => End::Hold,
                    _ => End::Drop,
                };
                Step::Plan(self.calls(), end, self.fault(base))
            }
            10 | 11 => Step::Two(self.calls(), self.calls()),
            12 | 13 => Step::Approve(self.place(), self.fault(base)),
            14..=17 => Step::Undo(self.place(), self.fault(base)),
            18 => Step::Outside(self.below(9), self.small()),
            19 | 20 => Step::Schema(self.below(6)),
            21 => Step::Clock(i64::from(self.small()) * 24),
            22 => Step::Kill(self.calls()),
            _ => Step::Restart,
        }
    }
}

impl Schedule {
    /// The schedule of a number.
    pub fn of(seed: u64, base: Base) -> Self {
        let mut random = Random(seed);
        Self { base, steps: (0..STEPS).map(|_| random.step(base)).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_stands_for_one_schedule() {
        assert_eq!(Schedule::of(7, Base::Sqlite), Schedule::of(7, Base::Sqlite));
        assert_ne!(Schedule::of(7, Base::Sqlite), Schedule::of(8, Base::Sqlite));
    }
}
