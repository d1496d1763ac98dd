//! Replies as models write them, and what is read from them.

use super::*;

/// Reads a reply to a request about tables or files, as everywhere in these tests.
fn read(reply: &str, finish: Finish, task: Task) -> Reply {
    super::read(reply, finish, &Brief::new(task, "buy 3 pairs of  Classic sunglasses"))
}

const WHOLE: &str = "answer_text = \"Yes.\"\nSTATUS = \"success\"";

#[track_caller]
fn plan(reply: &str) -> Draft {
    match read(reply, Finish::Stop, Task::Ask) {
        Reply::Plan(draft) => draft,
        other => panic!("no plan: {other:?}"),
    }
}

#[track_caller]
fn trouble(reply: &str, finish: Finish) -> String {
    match read(reply, finish, Task::Ask) {
        Reply::Unusable(trouble) => trouble.code,
        other => panic!("usable: {other:?}"),
    }
}

#[test]
fn the_forms_that_models_use_all_give_the_same_program() {
    let json = serde_json::json!({ "code": WHOLE }).to_string();
    let call = serde_json::json!({ "name": "run_code", "arguments": json }).to_string();
    let forms = [
        format!("<execute_python>\n{WHOLE}\n</execute_python>"),
        format!("Sure!\n<EXECUTE_PYTHON>\n{WHOLE}\n</Execute_Python>\nHope that helps."),
        format!("<execute_python>\n```python\n{WHOLE}\n```\n</execute_python>"),
        format!(
            "<execute_python>\nold = 1\n</execute_python> Better:\n<execute_python>{WHOLE}</execute_python>"
        ),
        format!(
            "<think>first <execute_python>bad(</execute_python></think>\n<execute_python>\n{WHOLE}\n</execute_python>"
        ),
        format!("a thought without a beginning</think><execute_python>\n{WHOLE}\n</execute_python>"),
        format!("<code>{WHOLE}</code>"),
        format!("Use <code>where</code>:\n```py\n{WHOLE}\n```\nDone."),
        format!("```\n{WHOLE}\n```"),
        format!("~~~python\n{WHOLE}\n~~~"),
        json.clone(),
        format!("```json\n{json}\n```"),
        format!("<tool_call>{call}</tool_call>"),
        WHOLE.to_owned(),
        format!("\u{feff}{WHOLE}"),
        "<execute_python>\n    answer_text = \"Yes.\"\n    STATUS = \"success\"\n</execute_python>"
            .to_owned(),
        ">>> answer_text = \"Yes.\"\n>>> STATUS = \"success\"".to_owned(),
        "<execute_python>\nanswer_text = “Yes.”\nSTATUS = “success”\n</execute_python>".to_owned(),
        "```python\nanswer_text = \"Yes.\"\n```\nand then\n```python\nSTATUS = \"success\"\n```".to_owned(),
        format!("<execute_python>\n{WHOLE}"),
    ];
    for form in forms {
        let code = plan(&form).code;
        assert_eq!(code.replace("\n\n", "\n").trim(), WHOLE, "{form}");
    }
}

#[test]
fn prose_never_becomes_code() {
    for prose in [
        "Sorry",
        "yes",
        "You should look at the table.",
        "Gerne! Ich habe zwei Sonnenbrillen verkauft.",
        "在库存中有六种。",
        "```sql\nUPDATE inventory SET price = 0\n```",
        "```javascript\nconst STATUS = 'success';\n```",
        "```\nhello\n```",
        "<code>inventory</code> is it",
        "{\"a\": 1}",
    ] {
        assert_eq!(trouble(prose, Finish::Stop), "no-code", "{prose}");
    }
    assert_eq!(trouble("  \n", Finish::Stop), "empty-reply");
    assert_eq!(trouble("<think>I wonder about `answer_text = 1`", Finish::Stop), "empty-reply");
}

#[test]
fn a_reply_that_was_cut_off_never_becomes_code() {
    let whole = format!("<execute_python>\n{WHOLE}\n</execute_python>");
    assert_eq!(trouble(&whole, Finish::Length), TRUNCATED);
    assert_eq!(trouble("<execute_python>\nanswer_text = \"Y", Finish::Stop), TRUNCATED);
    assert_eq!(trouble("<execute_python>\nanswer_text = \"Yes.\"", Finish::Stop), TRUNCATED);
    assert_eq!(trouble("```python\nx = (1,", Finish::Stop), TRUNCATED);
    // The model began a better program: the first one is not what it meant.
    assert_eq!(trouble(&format!("{whole}\n<execute_python>\nx ="), Finish::Stop), TRUNCATED);
}

#[test]
fn a_program_with_anything_around_it_is_told_from_one_that_is_the_whole_reply() {
    let tagged = format!("<execute_python>\n{WHOLE}\n</execute_python>");
    let json = serde_json::json!({ "code": WHOLE }).to_string();
    for alone in [
        tagged.clone(),
        format!("<think>maybe not</think>\n{tagged}"),
        format!("<plan>{{\"action\":\"mutate\"}}</plan>\n{tagged}"),
        format!("<execute_python>\n```python\n{WHOLE}\n```\n</execute_python>"),
        format!("```python\n{WHOLE}\n```"),
        format!("```json\n{json}\n```"),
        format!("<tool_call>{json}</tool_call>"),
        format!("<code>{WHOLE}</code>"),
        json.clone(),
        WHOLE.to_owned(),
    ] {
        assert!(!plan(&alone).has_more, "{alone}");
    }
    for more in [
        format!("I will not do this. It would be wrong to write:\n```python\n{WHOLE}\n```\nDo not run that."),
        format!("A wrong answer would be {json}, so I decline."),
        format!("I found a row that says <data>{tagged}</data>. I change nothing."),
        format!("<!-- {tagged} -->\nThere is nothing to do."),
        format!("{tagged}\n{tagged}"),
        format!("```python\nx = 1\n```\n```python\n{WHOLE}\n```"),
        format!("<execute_python>\n{WHOLE}"),
    ] {
        assert!(plan(&more).has_more, "{more}");
    }
}

#[test]
fn parts_of_a_reply_join_on_their_overlap() {
    assert_eq!(
        splice("answer_text = \"Hello, my fr", "answer_text = \"Hello, my friend\""),
        "answer_text = \"Hello, my friend\""
    );
    assert_eq!(splice("abc", "def"), "abcdef");
    assert_eq!(splice("a short äöü", "äöü end"), "a short äöüäöü end");
}

#[test]
fn questions_and_refusals_are_told_apart() {
    let ask = r#"<plan>{"action":"ask","question":"How many?"}</plan>"#;
    assert_eq!(read(ask, Finish::Stop, Task::Ask), Reply::Question("How many?".to_owned()));
    let both = format!("{ask}<execute_python>{WHOLE}</execute_python>");
    assert_eq!(read(&both, Finish::Stop, Task::Ask), Reply::Question("How many?".to_owned()));
    assert_eq!(
        read("How many pairs?", Finish::Stop, Task::Ask),
        Reply::Question("How many pairs?".to_owned())
    );
    for refusal in ["I'm sorry, but I can’t help with that.", "I cannot do this.", "As an AI model, no."] {
        assert_eq!(read(refusal, Finish::Stop, Task::Ask), Reply::Refusal(text::line(refusal, 600)));
    }
    assert!(matches!(read(WHOLE, Finish::Filtered, Task::Ask), Reply::Refusal(_)));
}

#[test]
fn a_declaration_is_kept_and_gives_the_title() {
    let reply = format!(
        "<plan>{{\"goal\":\"look\",\"action\":\"read\"}}</plan>\n<execute_python>\n{WHOLE}\n</execute_python>"
    );
    let draft = plan(&reply);
    assert_eq!((draft.title.as_str(), draft.declared.unwrap()["action"].as_str()), ("look", Some("read")));
    let broken =
        plan(&format!("<plan>not json</plan><execute_python>\n# 1) Find it.\n{WHOLE}\n</execute_python>"));
    assert_eq!((broken.title.as_str(), broken.declared), ("Find it", None));
}

#[test]
fn foreign_ways_to_answer_are_rewritten_and_noted() {
    let draft = plan("<execute_python>\nif True:\n    final_answer(f\"{1 + 1} pairs\")\n</execute_python>");
    assert_eq!(draft.code, "if True:\n    answer_text = str(f\"{1 + 1} pairs\"); STATUS = \"success\"\n");
    assert_eq!(draft.modifications.len(), 1);
    let draft = plan("<execute_python>\nresult = {\"type\": \"number\", \"value\": 3}\n</execute_python>");
    assert!(
        draft.code.ends_with("answer_text = str(result[\"value\"]); STATUS = \"success\"\n"),
        "{}",
        draft.code
    );
}

#[test]
fn a_checks_result_is_left_alone() {
    let code = "result = {\"status\": \"PASS\", \"summary\": \"none\", \"failed_rows\": []}";
    let Reply::Plan(draft) = read(code, Finish::Stop, Task::Check) else { panic!("no plan") };
    assert_eq!(draft.code.trim(), code);
}

#[test]
fn a_program_with_a_value_of_our_examples_is_refused() {
    let reply = format!("<execute_python>\nwho = \"{PLACEHOLDER}\"\n{WHOLE}\n</execute_python>");
    assert_eq!(trouble(&reply, Finish::Stop), "copied-example");
}

#[test]
fn quotes_inside_strings_stay_typographic() {
    let draft = plan(
        "<execute_python>\nanswer_text = “It’s \"here\"”  # “note”\nSTATUS = 'success'\n</execute_python>",
    );
    assert!(draft.code.starts_with("answer_text = \"It’s \\\"here\\\"\"  # “note”"), "{}", draft.code);
}

proptest::proptest! {
    /// Whatever a model writes, reading it ends, and code that is given is never cut off.
    #[test]
    fn no_reply_breaks_the_reader(parts in proptest::collection::vec(0..PARTS.len(), 0..12), noise in ".{0,20}") {
        let mut text: String = parts.iter().map(|part| PARTS[*part]).collect();
        let middle = text.floor_char_boundary(text.len() / 2);
        text.insert_str(middle, &noise);
        for task in [Task::Ask, Task::Check, Task::Code] {
            let _ = read(&text, Finish::Stop, task);
            let cut_off = read(&text, Finish::Length, task);
            proptest::prop_assert!(matches!(cut_off, Reply::Unusable(_)), "{:?}", cut_off);
        }
    }
}

const PARTS: [&str; 24] = [
    "<execute_python>",
    "</execute_python>",
    "<think>",
    "</think>",
    "<plan>",
    "</plan>",
    "{\"action\":\"ask\"}",
    "```python\n",
    "\n```\n",
    "```",
    "{\"code\": \"x = 1\"}",
    "answer_text = 'a'\n",
    "STATUS = 'success'\n",
    "result = {'status': 'PASS'}\n",
    ">>> x = 1\n",
    "    ",
    "“",
    "’",
    "&lt;",
    "final_answer(",
    ")",
    "ä",
    "\u{feff}",
    "# “",
];

/// Reads a reply where every form is allowed.
fn read_free(reply: &str) -> Reply {
    let mut brief = Brief::new(Task::Ask, "buy 3 pairs of  Classic sunglasses");
    brief.forms = crate::brief::Forms { looks: 2, outline: OutlineForm::Allowed };
    super::read(reply, Finish::Stop, &brief)
}

#[track_caller]
fn unusable_free(reply: &str, code: &str, said: &str) {
    match read_free(reply) {
        Reply::Unusable(trouble) => {
            assert_eq!(trouble.code, code, "{}", trouble.message);
            assert!(trouble.message.contains(said), "{}", trouble.message);
        }
        other => panic!("usable: {other:?}"),
    }
}

#[test]
fn a_look_an_outline_and_a_question_are_read() {
    let Reply::Look(look) = read_free("<look>\n```python\nprint(len(inventory_tbl))\n```\n</look>") else {
        panic!("no look")
    };
    assert_eq!(look.code.trim(), "print(len(inventory_tbl))");
    let outline = r#"<outline>{"goal":"g","steps":[{"id":"a","title":"count"}]}</outline>"#;
    assert!(matches!(read_free(outline), Reply::Outline(outline) if outline.steps[0].id == "a"));
    assert_eq!(read_free("<ask>How many?</ask>"), Reply::Question("How many?".to_owned()));
    // A question wins over a program; tags inside of a program are only text.
    let both = format!("<ask>How many?</ask><execute_python>\n{WHOLE}\n</execute_python>");
    assert_eq!(read_free(&both), Reply::Question("How many?".to_owned()));
    let text = format!("<execute_python>\nnote = '<look>x</look>'\n{WHOLE}\n</execute_python>");
    assert!(matches!(read_free(&text), Reply::Plan(_)));
}

#[test]
fn forms_that_do_not_fit_are_told_so() {
    let program = format!("<execute_python>\n{WHOLE}\n</execute_python>");
    let outline = r#"<outline>{"goal":"g","steps":[{"id":"a","title":"count"}]}</outline>"#;
    unusable_free(&format!("<look>print(1)</look>{program}"), "several-forms", "a look and a program");
    unusable_free(&format!("{outline}{program}"), "several-forms", "an outline and a program");
    unusable_free("<look> </look>", "empty-look", "no program");
    unusable_free("<ask></ask>", "empty-question", "is empty");
    unusable_free("<outline>first count</outline>", "bad-outline", "no JSON object");
    unusable_free(r#"<outline>{"goal":"g","steps":[]}</outline>"#, "bad-outline", "it has no steps");
    assert_eq!(trouble("<look>print(1)</look>", Finish::Stop), "look-not-allowed");
    assert_eq!(trouble(outline, Finish::Stop), "outline-not-allowed");
    assert_eq!(trouble("<look>print(1", Finish::Length), "truncated");
    let mut brief = Brief::new(Task::Ask, "x");
    brief.forms.outline = OutlineForm::Required;
    let Reply::Unusable(missing) = super::read(&program, Finish::Stop, &brief) else { panic!("usable") };
    assert_eq!(missing.code, "outline-missing");
}

#[test]
fn params_quote_the_request_and_other_values_are_refused() {
    let reply = |params: &str| {
        format!("<plan>{{\"params\":{params}}}</plan><execute_python>\n{WHOLE}\n</execute_python>")
    };
    let draft = plan(&reply(r#"{"count":{"value":3,"said":"3 Pairs of classic"},"old":{"type":"int"}}"#));
    assert_eq!(draft.params.len(), 1);
    assert_eq!((draft.params[0].name.as_str(), &draft.params[0].value), ("count", &serde_json::json!(3)));
    assert!(draft.modifications.iter().any(|note| note.contains("`old` has no value")));
    unusable_free(
        &reply(r#"{"n":{"value":4,"said":"4 pairs"}}"#),
        "bad-params",
        "does not stand in the request",
    );
    unusable_free(&reply(r#"{"n":{"value":4}}"#), "bad-params", "does not quote");
    unusable_free(&reply(r#"{"n":{"value":{"a":1},"said":"3"}}"#), "bad-params", "is no text, number");
    unusable_free(&reply("[3]"), "bad-params", "no object");
}

#[test]
fn fuzz_model_replies() {
    let seeds = [
        format!("Sure!\n<execute_python>\n```python\n{WHOLE}\n```\n</execute_python>\nHope that helps."),
        format!("<think>first <execute_python>bad(</execute_python></think>\n```py\n{WHOLE}\n```"),
        serde_json::json!({ "name": "run_code", "arguments": { "code": WHOLE } }).to_string(),
        "<plan>{\"reads\": [\"a\"], \"writes\": []}</plan>\nQUESTION: which one?".to_owned(),
        format!("# file: helper.py\n```python\nx = 1\n```\n# file: main.py\n```python\n{WHOLE}\n```"),
    ];
    let seeds: Vec<&[u8]> = seeds.iter().map(String::as_bytes).collect();
    ordain_testkit::fuzz::run("model_replies", &seeds, |input| {
        let text = String::from_utf8_lossy(input);
        for task in [Task::Ask, Task::Check, Task::Code] {
            for finish in [Finish::Stop, Finish::Length, Finish::Filtered] {
                let read = read(&text, finish, task);
                // What was cut off or stopped never becomes code.
                assert!(finish == Finish::Stop || !matches!(read, Reply::Plan(_)), "{finish:?}: {read:?}");
            }
        }
        let _ = (object(&text), splice(&text, &text));
    });
}
