//! What steps give to later ones: lists within lists, frames, and outlines that a second opinion changed; on both databases.

use ordain_types::{RunState, Strategy};
use serde_json::json;

use crate::steps::{ask, asked, outline, outlined, planner, program, replies, scripted, shop, with};
use crate::world::on_both;

on_both! {
    async fn a_step_runs_for_lists_within_lists(database: Database) {
        let world = shop(database).await;
        let outline = json!({ "goal": "prices by name and number", "steps": [
            { "id": "names", "title": "two names" },
            { "id": "counts", "title": "how many of one", "each": "names" },
            { "id": "cost", "title": "what so many cost", "each": ["names", "counts"], "check": "len(result) == 2" },
            { "id": "say", "title": "say it", "needs": ["cost"] },
        ]});
        let script = [
            ("plan", outlined(&outline)),
            ("plan", program("result = ['Aviator', 'Classic']")),
            ("plan", program("result = [1, 2] if inputs['item'] == 'Aviator' else []")),
            ("plan", program("row = inventory_tbl.get(where('name') == inputs['item']['names'])\nresult = row['price'] * inputs['item']['counts']")),
            ("plan", program("answer_text, STATUS, result = f\"{inputs['cost']}\", 'success', 1")),
        ];
        let record = ask(&world, scripted(&script), Strategy::Plan).await;
        assert_eq!((record.state, &record.error), (RunState::Answered, &None), "{record:#?}");
        let cost = record.plan.steps[2].result.clone().unwrap();
        assert_eq!(cost, json!([[80, 160], []]));
        world.executor.close().await;
    }

    async fn a_frame_reaches_later_steps_with_its_types(database: Database) {
        let world = shop(database).await;
        let outline = json!({ "goal": "a frame", "steps": [
            { "id": "made", "title": "make it", "check": "result['sales']['count'].sum() == 3" },
            { "id": "types", "title": "say its types", "needs": ["made"] },
            { "id": "text", "title": "write about it", "needs": ["made", "types"], "kind": "text" },
        ]});
        let make = "import pandas\n\
            days = pandas.to_datetime(['2026-01-05', None])\n\
            sales = pandas.DataFrame({'name': ['a', 'b'], 'day': days, 'count': pandas.array([3, None], dtype='Int64')})\n\
            result = {'sales': sales.set_index('name'), 'plain': 1}";
        // It takes no import to use a frame that is there.
        let types = "sales = inputs['made']['sales']\n\
            result = [str(kind) for kind in sales.dtypes] + [sales.index.name, sales.loc['a', 'day'].year, int(sales['count'].isna().sum())]";
        let cassette = [
            json!({ "reply": outlined(&outline) }),
            json!({ "reply": program(make) }),
            json!({ "reply": program(types) }),
            json!({ "for": "text", "reply": "There were 3." }),
        ];
        let cassette: Vec<String> = cassette.iter().map(ToString::to_string).collect();
        let record = ask(&world, planner(&cassette.join("\n")), Strategy::Plan).await;
        assert_eq!((record.state, &record.error), (RunState::Answered, &None), "{record:#?}");
        let found = record.plan.steps[1].result.clone().unwrap();
        assert!(found[0].as_str().unwrap().starts_with("datetime64"), "{found}");
        assert_eq!(found.as_array().unwrap()[1..], [json!("Int64"), json!("name"), json!(2026), json!(1)]);
        let kept = &record.plan.steps[0].result.as_ref().unwrap()["sales"]["dataframe"];
        assert_eq!(kept["rows"], json!([["a", "2026-01-05T00:00:00", 3], ["b", null, null]]));
        world.executor.close().await;
    }

    async fn an_outline_is_criticised_before_anything_of_it_runs(database: Database) {
        let world = shop(database).await;
        let engine = with(&world, |settings| settings.review_outline = true);
        let first = json!({ "goal": "sell", "steps": [{ "id": "sell", "title": "sell two" }] });
        let cassette = [
            json!({ "reply": outlined(&first) }),
            json!({ "for": "review", "expect": { "contains": ["<outline>", "sell two"], "not_contains": ["<forms>"] }, "reply": "{\"ok\": false, \"problem\": \"nobody is told what is left\"}" }),
            json!({ "expect": { "contains": ["REVIEW OBJECTS", "nobody is told what is left"] }, "reply": outlined(&outline()) }),
        ];
        let steps = replies();
        let steps = steps[1..].iter().map(|(_, reply)| json!({ "reply": reply }));
        let cassette: Vec<String> = cassette.into_iter().chain(steps).map(|line| line.to_string()).collect();
        let ask = asked("Sell 2 pairs of Classic and write a report", planner(&cassette.join("\n")), Strategy::Plan);
        let record = engine.ask(ask).await.unwrap();
        assert_eq!((record.state, &record.error), (RunState::Committed, &None), "{record:#?}");
        assert_eq!(record.plan.outline.unwrap().steps.len(), 3, "the second outline is carried out");
        assert_eq!(record.usage.model_calls, 7, "both outlines are reviewed");
        world.executor.close().await;
    }
}
