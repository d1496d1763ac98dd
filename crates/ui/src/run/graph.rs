//! The steps of a plan as a graph: what needs nothing at the left, each other step right of all that it needs. The list
//! of steps below it says the same in words.

use maud::{Markup, html};
use ordain_types::{StepRecord, StepState};

use crate::text::{in_path, visible};

const WIDTH: usize = 170;
const HEIGHT: usize = 34;
const ACROSS: usize = 40;
const DOWN: usize = 14;
/// Characters of a title that fit into a box.
const TITLE_CHARS: usize = 22;

/// Nothing for one step, nor for a run of many checks, which need one another rarely.
pub(super) fn of(steps: &[StepRecord]) -> Markup {
    if steps.len() < 2 || steps.iter().all(|step| step.needs.is_empty()) {
        return html! {};
    }
    let places = places(steps);
    let columns = places.iter().map(|(column, _)| column + 1).max().unwrap_or_default();
    let rows = places.iter().map(|(_, row)| row + 1).max().unwrap_or_default();
    let corner = |(column, row): (usize, usize)| (column * (WIDTH + ACROSS) + 1, row * (HEIGHT + DOWN) + 1);
    let (width, height) = (columns * (WIDTH + ACROSS) - ACROSS + 2, rows * (HEIGHT + DOWN) - DOWN + 2);
    let needed = |name: &String| steps.iter().position(|step| step.id == *name);
    html! {
        div.scroll.graph tabindex="0" role="region" aria-label="Steps as a graph; the list below says the same" {
            svg width=(width) height=(height) viewBox={ "0 0 " (width) " " (height) } aria-hidden="true" {
                @for (place, step) in steps.iter().enumerate() {
                    @let (x, y) = corner(places[place]);
                    @for from in step.needs.iter().filter_map(needed).filter(|from| *from < place) {
                        @let (from_x, from_y) = corner(places[from]);
                        path.edge d={ "M" (from_x + WIDTH) " " (from_y + HEIGHT / 2) "C" (x - ACROSS / 2) " " (from_y + HEIGHT / 2) " " (x - ACROSS / 2) " " (y + HEIGHT / 2) " " (x) " " (y + HEIGHT / 2) } {}
                    }
                }
                @for (place, step) in steps.iter().enumerate() {
                    @let (x, y) = corner(places[place]);
                    a href={ "#step-" (in_path(&step.id)) } tabindex="-1" {
                        rect class=(colour(step.state)) x=(x) y=(y) width=(WIDTH) height=(HEIGHT) rx="5" {}
                        text x=(x + 10) y=(y + 22) { (visible(&step.title.chars().take(TITLE_CHARS).collect::<String>())) @if step.title.chars().count() > TITLE_CHARS { "…" } }
                    }
                }
            }
        }
    }
}

const fn colour(state: StepState) -> &'static str {
    match state {
        StepState::Done => "good",
        StepState::Failed => "bad",
        _ => "off",
    }
}

/// The column and the row of each step. What a step needs comes before it; names that are no earlier step are passed over.
fn places(steps: &[StepRecord]) -> Vec<(usize, usize)> {
    let mut places: Vec<(usize, usize)> = Vec::with_capacity(steps.len());
    for step in steps {
        let earlier = steps.iter().zip(&places).filter(|(other, _)| step.needs.contains(&other.id));
        let column = earlier.map(|(_, (column, _))| column + 1).max().unwrap_or_default();
        let row = places.iter().filter(|(other, _)| *other == column).count();
        places.push((column, row));
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(id: &str, needs: &[&str]) -> StepRecord {
        StepRecord {
            id: id.to_owned(),
            title: format!("<b>{id}"),
            needs: needs.iter().map(|&need| need.to_owned()).collect(),
            state: StepState::Done,
            ..StepRecord::default()
        }
    }

    #[test]
    fn a_step_stands_right_of_all_that_it_needs() {
        let steps = [
            step("a", &[]),
            step("b", &[]),
            step("c", &["a", "b"]),
            step("d", &["a", "c"]),
            step("e", &["e", "?"]),
        ];
        assert_eq!(places(&steps), [(0, 0), (0, 1), (1, 0), (2, 0), (0, 2)]);
        let shown = of(&steps).into_string();
        assert!(shown.matches("<path").count() == 4 && !shown.contains("<b>"), "{shown}");
        assert_eq!(of(&steps[..2]).into_string(), "");
    }
}
