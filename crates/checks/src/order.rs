//! In which order checks run: what a check depends on comes before it.

use std::collections::HashMap;

use crate::check::Check;

/// Circles among the checks: each as its ids, beginning with the one that stands first in the files.
pub fn circles(checks: &[&Check]) -> Vec<Vec<String>> {
    let places: HashMap<&str, usize> =
        checks.iter().enumerate().map(|(place, check)| (check.check_id.as_str(), place)).collect();
    let mut state = vec![State::New; checks.len()];
    let mut found = Vec::new();
    for start in 0..checks.len() {
        if state[start] != State::New {
            continue;
        }
        // A path kept by hand: ten thousand checks in a row must not use up the stack.
        let mut path = vec![(start, 0)];
        state[start] = State::OnPath;
        while let Some((place, next)) = path.last_mut() {
            let Some(id) = checks[*place].depends_on.get(*next) else {
                state[*place] = State::Done;
                path.pop();
                continue;
            };
            *next += 1;
            let Some(&wanted) = places.get(id.as_str()) else { continue };
            match state[wanted] {
                State::New => {
                    state[wanted] = State::OnPath;
                    path.push((wanted, 0));
                }
                State::OnPath => {
                    let from = path.iter().position(|(place, _)| *place == wanted).unwrap_or(0);
                    let mut circle: Vec<usize> = path[from..].iter().map(|(place, _)| *place).collect();
                    let first =
                        circle.iter().enumerate().min_by_key(|(_, place)| **place).map_or(0, |(at, _)| at);
                    circle.rotate_left(first);
                    found.push(circle.iter().map(|place| checks[*place].check_id.clone()).collect());
                }
                State::Done => {}
            }
        }
    }
    found
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    OnPath,
    Done,
}
