//! The difference of two texts, line by line.

/// Longer texts are shown as replaced whole: comparing costs the product of both lengths.
const LINES_MAX: usize = 2000;

/// What became of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// It is in both.
    Same(&'a str),
    /// It is only in the first.
    Gone(&'a str),
    /// It is only in the second.
    New(&'a str),
}

/// The lines of both texts in order, by the longest common subsequence.
pub(crate) fn compare<'a>(before: &'a str, after: &'a str) -> Vec<Line<'a>> {
    let (old, new): (Vec<_>, Vec<_>) = (before.lines().collect(), after.lines().collect());
    // A small change of a long text costs no more than its own lines.
    let begin = std::iter::zip(&old, &new).take_while(|(old, new)| old == new).count();
    let rest = std::iter::zip(old[begin..].iter().rev(), new[begin..].iter().rev());
    let end = rest.take_while(|(old, new)| old == new).count();
    let mut lines: Vec<Line<'_>> = old[..begin].iter().map(|line| Line::Same(line)).collect();
    lines.extend(middle(&old[begin..old.len() - end], &new[begin..new.len() - end]));
    lines.extend(old[old.len() - end..].iter().map(|line| Line::Same(line)));
    lines
}

fn middle<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<Line<'a>> {
    if old.len() > LINES_MAX || new.len() > LINES_MAX {
        let gone = old.iter().map(|line| Line::Gone(line));
        return gone.chain(new.iter().map(|line| Line::New(line))).collect();
    }
    let common = common_lengths(old, new);
    let (mut at, mut to, mut lines) = (0, 0, Vec::with_capacity(old.len() + new.len()));
    while at < old.len() && to < new.len() {
        if old[at] == new[to] {
            lines.push(Line::Same(old[at]));
            (at, to) = (at + 1, to + 1);
        } else if common[at + 1][to] >= common[at][to + 1] {
            lines.push(Line::Gone(old[at]));
            at += 1;
        } else {
            lines.push(Line::New(new[to]));
            to += 1;
        }
    }
    lines.extend(old[at..].iter().map(|line| Line::Gone(line)));
    lines.extend(new[to..].iter().map(|line| Line::New(line)));
    lines
}

/// For each pair of places, how many lines the rests have in common.
fn common_lengths(old: &[&str], new: &[&str]) -> Vec<Vec<u16>> {
    let mut common = vec![vec![0_u16; new.len() + 1]; old.len() + 1];
    for at in (0..old.len()).rev() {
        for to in (0..new.len()).rev() {
            common[at][to] = if old[at] == new[to] {
                common[at + 1][to + 1] + 1
            } else {
                common[at + 1][to].max(common[at][to + 1])
            };
        }
    }
    common
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_both_have_stay_and_the_others_are_marked() {
        let lines = compare("a\nb\nc\n", "a\nx\nc\nd\n");
        assert_eq!(
            lines,
            [Line::Same("a"), Line::Gone("b"), Line::New("x"), Line::Same("c"), Line::New("d")]
        );
        let long = "same\n".repeat(5000);
        let (before, after) = (format!("{long}a\n{long}"), format!("{long}b\n{long}"));
        let compared = compare(&before, &after);
        assert_eq!(compared.iter().filter(|line| !matches!(line, Line::Same(_))).count(), 2);
        assert_eq!(compare("", "a"), [Line::New("a")]);
        assert_eq!(compare("a", "a"), [Line::Same("a")]);
    }
}
