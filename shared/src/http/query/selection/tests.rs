use super::*;
use proptest::prelude::*;
use serde_json::json;
use std::sync::mpsc;
use std::time::Duration;

const OWNER: &[Field] = &[Field::leaf("id"), Field::leaf("name")];
const LEAD: &[Field] = &[
    Field::leaf("id"),
    Field::leaf("fullname"),
    Field::leaf("email"),
    Field {
        name: "owner",
        shape: FieldShape::LeafOrObject(OWNER),
    },
];
const ROOTS: &[Field] = &[
    Field::leaf("total"),
    Field {
        name: "lead",
        shape: FieldShape::Object(LEAD),
    },
];
const DEEP: &[Field] = &[Field {
    name: "a",
    shape: FieldShape::LeafOrObject(DEEP_2),
}];
const DEEP_2: &[Field] = &[Field {
    name: "b",
    shape: FieldShape::Object(DEEP_3),
}];
const DEEP_3: &[Field] = &[Field {
    name: "c",
    shape: FieldShape::Object(OWNER),
}];

fn parsed(text: &str) -> Selection {
    let read = Selection::parse(text, ROOTS);
    assert!(read.is_ok(), "{text}: {read:?}");
    read.unwrap_or_default()
}

fn lead_names(text: &str) -> Vec<&'static str> {
    let lead = parsed(text).get("lead").cloned();
    lead.unwrap_or_default().names().collect()
}

fn refusal(text: &str) -> String {
    let read = Selection::parse(text, ROOTS);
    read.map_or_else(|error| error.to_string(), |taken| format!("{taken:?}"))
}

/// Each line of the table is a text, an arrow and the error.
fn refused(table: &str) {
    for line in table.trim().lines() {
        let (text, error) = line.split_once("=>").unwrap_or((line, "no arrow"));
        assert_eq!(refusal(text.trim()), error.trim(), "{text}");
    }
}

#[test]
fn whitespace_commas_and_comments_separate() {
    for text in [
        "{lead{id,fullname}}",
        "{ lead { id fullname } }",
        " ,{,lead,{,,id,,,fullname,},},",
        "\u{feff}{lead\r\n{\tid # the é key {\n fullname}}\n# end",
    ] {
        assert_eq!(lead_names(text), ["id", "fullname"], "{text:?}");
    }
}

#[test]
fn duplicates_merge_in_the_order_first_selected() {
    assert_eq!(lead_names("{lead{email,id,email}}"), ["email", "id"]);
    assert_eq!(lead_names("{lead{id} total lead{email}}"), ["id", "email"]);
    let named = parsed("{lead{owner{name}}}");
    assert_eq!(parsed("{lead{owner owner{name}}}"), named);
    assert_eq!(parsed("{lead{owner{name} owner}}"), named);
    assert_eq!(parsed("{lead{owner{name}} lead{owner{name}}}"), named);
}

#[test]
fn selections_list_their_fields() {
    let selection = parsed("{total lead{id owner{name}}}");
    assert!(!selection.is_empty());
    assert_eq!(selection.names().collect::<Vec<_>>(), ["total", "lead"]);
    assert!(selection.contains("lead") && !selection.contains("id"));
    assert_eq!(selection.get("id"), None);
    assert!(selection.get("total").is_some_and(Selection::is_empty));
    let owner = selection.get("lead").and_then(|lead| lead.get("owner"));
    assert!(owner.is_some_and(|owner| owner.contains("name")));
}

#[test]
fn text_without_a_selection_set_is_rejected() {
    for text in ["", " \n", "# only a comment"] {
        assert_eq!(refusal(text), "not a selection set: unexpected end");
    }
    refused(
        r#"
        {            => not a selection set: unexpected end
        {lead{id}    => not a selection set: unexpected end
        lead{id}     => not a selection set: unexpected "lead"
        {}           => not a selection set: unexpected "}"
        {lead{id}}}  => not a selection set: unexpected "}"
        {lead{123}}  => not a selection set: unexpected "123"
        {lead{%}}    => not a selection set: unexpected "%"
        {lead{{id}}} => not a selection set: unexpected "{"
        {lead{...}}  => not a selection set: unexpected "..."
        [lead]       => not a selection set: unexpected "["
        "lead"       => not a selection set: unexpected "\"lead\""
        type A{b:C}  => not a selection set: unexpected "type A{b:C}"
        "#,
    );
}

#[test]
fn text_after_the_set_is_refused() {
    refused(
        r#"
        {lead{id}} {total}               => not a selection set: unexpected "{total}"
        {lead{id}} total                 => not a selection set: unexpected "total"
        {lead{id}} query Q{total}        => operation "query Q" is not allowed
        {lead{id}} fragment F on Lead{x} => fragment "F" is not allowed
        "#,
    );
}

#[test]
fn unknown_roots_and_fields_are_named() {
    refused(
        r#"
        {leads{id}}               => unknown root "leads"
        {total,id}                => unknown root "id"
        {__schema{types{name}}}   => unknown root "__schema"
        {lead{id,fooBar}}         => unknown field "fooBar" in "lead"
        {lead{fooBar{id}}}        => unknown field "fooBar" in "lead"
        {lead{__typename}}        => unknown field "__typename" in "lead"
        {lead{ID}}                => unknown field "ID" in "lead"
        {lead{owner{email}}}      => unknown field "email" in "owner"
        "#,
    );
}

#[test]
fn fields_are_bare_names() {
    refused(
        r#"
        {lead(id:1){id}}           => arguments on "lead" are not allowed
        {lead{id(in:{a:[$b]})}}    => arguments on "id" are not allowed
        {lead{key:id}}             => alias "key" is not allowed
        {lead{id:id}}              => alias "id" is not allowed
        {one:lead{id}}             => alias "one" is not allowed
        {lead{id @skip(if:true)}}  => directive "@skip(if:true)" is not allowed
        {lead @a @b{id}}           => directive "@a" is not allowed
        {...Short}                 => fragment "Short" is not allowed
        {lead{id ...Short}}        => fragment "Short" is not allowed
        {lead{... on Lead{id}}}    => fragment "... on Lead{id}" is not allowed
        {lead{...{id}}}            => fragment "...{id}" is not allowed
        fragment Short on Lead{id} => fragment "Short" is not allowed
        "#,
    );
}

#[test]
fn operations_are_refused() {
    refused(
        r#"
        query{lead{id}}               => operation "query" is not allowed
        query Mine{lead{id}}          => operation "query Mine" is not allowed
        query Mine($id:Int){lead{id}} => operation "query Mine" is not allowed
        query @a {lead{id}}           => operation "query" is not allowed
        mutation Mine{lead{id}}       => operation "mutation Mine" is not allowed
        subscription{lead{id}}        => operation "subscription" is not allowed
        "#,
    );
}

#[test]
fn objects_need_fields_and_leaves_have_none() {
    refused(
        r#"
        {lead}                  => "lead" needs a selection of fields
        {lead{}}                => "lead" needs a selection of fields
        {lead{id owner{ , }}}   => "owner" needs a selection of fields
        {lead{id} lead}         => "lead" needs a selection of fields
        {total{id}}             => "total" has no fields to select
        {lead{email{id}}}       => "email" has no fields to select
        {lead{owner{id{name}}}} => "id" has no fields to select
        "#,
    );
}

#[test]
fn at_most_two_hundred_fields_are_accepted() {
    let ids = |count: usize| "id,".repeat(count);
    assert_eq!(lead_names(&format!("{{lead{{{}}}}}", ids(200))), ["id"]);
    assert_eq!(
        lead_names(&format!("{{total {}}}", "lead{id}".repeat(199))),
        ["id"]
    );
    for text in [
        format!("{{lead{{{}}}}}", ids(201)),
        format!("{{lead{{{}}}}}", ids(60_000)),
        format!("{{lead{{{}}}}}", "owner{id}".repeat(101)),
        format!("{{total lead{{{}}}}}", ids(200)),
        format!("{{{}}}", "total,".repeat(201)),
    ] {
        assert_eq!(refusal(&text), "more than 200 fields");
    }
}

#[test]
fn at_most_four_levels_are_accepted() {
    assert!(Selection::parse("{a{b{c{id}}}}", DEEP).is_ok());
    refused(
        r"
        {a{b{c{id{x}}}}}           => more than 4 levels
        {lead{owner{id{x{y}}}}}    => more than 4 levels
        {a{b{c{d{e                 => more than 4 levels
        {lead(in:[[[[1]]]]){id}}   => more than 4 levels
        ",
    );
}

#[test]
fn ignored_tokens_are_limited() {
    let commas = |count: usize| format!("{{lead{{id{}}}}}", ",".repeat(count));
    let comment = format!("{{lead{{id #{}\n}}}}", "x".repeat(200_000));
    assert_eq!(lead_names(&comment), ["id"]);
    assert_eq!(lead_names(&commas(10_000)), ["id"]);
    assert_eq!(refusal(&commas(10_240)), "more than 10240 tokens");
}

#[test]
fn errors_quote_short_escaped_excerpts() {
    let unknown = |length: usize| refusal(&format!("{{{}}}", "x".repeat(length)));
    let longest = "x".repeat(64);
    assert_eq!(unknown(64), format!("unknown root \"{longest}\""));
    assert_eq!(unknown(5_000), format!("unknown root \"{longest}…\""));
    assert_eq!(
        refusal("{lead{id @a(\r\nb:\"\u{1b}[2J\u{202e}\")}}"),
        r#"directive "@a(\r\nb:\"\u{1b}[2J\u{202e}\")" is not allowed"#
    );
    assert_eq!(refusal("{\0}"), r#"not a selection set: unexpected "\0""#);
}

/// Rejects each text on a small stack. Quadratic time would exceed the limit of 10 seconds.
#[test]
fn hostile_texts_are_rejected_fast_on_a_small_stack() {
    let many = str::repeat;
    let texts = [
        many("{", 100_000),
        many("{", 5_000) + &many("}", 5_000),
        many("{a", 100_000),
        many("{a", 5_000) + &many("}", 5_000),
        many("{lead", 40_000),
        many("{...", 50_000),
        many("{...on a", 25_000),
        "{a(b:".to_owned() + &many("[", 200_000),
        "{a(b:".to_owned() + &many("{c:", 60_000),
        "query($a:".to_owned() + &many("[", 200_000),
        "{a".to_owned() + &many("@b(c:", 40_000),
        many("a:", 100_000),
        many("}", 200_000),
        many("\"", 200_001),
        many("\"\" ", 60_000),
        "{a(b:\"\\u{".to_owned() + &many("0", 100_000) + "g}\")" + &many("a ", 50_000),
        "{a".to_owned() + &many("%", 200_000),
        many("{a%", 60_000),
        many("é", 100_000),
        many("#\n", 100_000),
        many(" ,", 100_000),
        many("{a#\n", 50_000),
        many("extend type a{b:", 12_000),
        many("type a implements b&", 10_000),
        "{lead{".to_owned() + &many("x", 200_000) + "}}",
    ];
    let (done, judged) = mpsc::channel();
    let judge = move || {
        for text in texts {
            let read = Selection::parse(&text, ROOTS);
            assert!(read.is_err_and(|error| error.to_string().len() < 800));
        }
        done.send(())
    };
    let small = std::thread::Builder::new().stack_size(256 * 1024);
    assert!(small.spawn(judge).is_ok());
    assert_eq!(judged.recv_timeout(Duration::from_secs(10)), Ok(()));
}

#[test]
fn projections_follow_the_order_of_the_selection() {
    let answer = json!({
        "total": 2,
        "lead": [
            { "id": 1, "email": null, "fullname": "Ana", "owner": { "id": 7, "name": "Rui", "mail": "r@x" } },
            { "id": 2, "owner": null },
        ],
        "more": true,
    });
    let projected = parsed("{lead{owner{name} email id}}").project(&answer);
    assert_eq!(
        projected.to_string(),
        json!({ "lead": [
            { "owner": { "name": "Rui" }, "email": null, "id": 1 },
            { "owner": null, "email": null, "id": 2 },
        ] })
        .to_string()
    );
}

#[test]
fn projections_copy_leaves_and_add_null_for_absent_fields() {
    let whole = json!({ "lead": { "id": [1, { "x": 2 }], "owner": 7 } });
    assert_eq!(parsed("{lead{id owner}}").project(&whole), whole);
    for (value, expected) in [
        (json!({ "lead": null }), json!({ "lead": null })),
        (json!({}), json!({ "lead": null })),
        (json!({ "lead": [] }), json!({ "lead": [] })),
        (json!({ "lead": {} }), json!({ "lead": { "owner": null } })),
        (
            json!({ "lead": { "owner": 7 } }),
            json!({ "lead": { "owner": null } }),
        ),
        (json!(7), json!(null)),
    ] {
        assert_eq!(parsed("{lead{owner{id}}}").project(&value), expected);
    }
}

/// Texts of GraphQL tokens, which reach further into the parser than arbitrary text.
fn graphql_like() -> impl Strategy<Value = String> {
    let words = "{ } { } ( ) [ ] : @ ! $ & | = ... .. . , # \" \"\"\" \\ \\u \\u{ D800 é - 0 1 1e 1. % true null __a x on \
        lead id owner name total query mutation fragment type input enum union extend schema scalar directive";
    let mut words: Vec<_> = words.split(' ').filter(|word| !word.is_empty()).collect();
    words.extend([" ", "\n", "\u{feff}"]);
    let text = prop::collection::vec(prop::sample::select(words), 0..60);
    let gap = prop::sample::select(vec!["", " "]);
    (text, gap).prop_map(|(words, gap)| words.join(gap))
}

proptest! {
    #[test]
    fn no_text_panics_the_selection_parser(text in prop_oneof![any::<String>(), ".*", graphql_like()]) {
        if let Err(error) = Selection::parse(&text, ROOTS) {
            let error = error.to_string();
            prop_assert!(error.len() < 800 && !error.contains(char::is_control), "{error:?}");
        }
    }

    #[test]
    fn a_projection_has_exactly_the_selected_names(names in prop::collection::vec(0..LEAD.len(), 1..40)) {
        let names: Vec<_> = names.into_iter().map(|at| LEAD[at].name).collect();
        let text = format!("{{lead{{{}}}}}", names.join(" "));
        let lead = json!({ "lead": { "owner": 1, "email": 2, "id": 3, "fullname": 4, "phone": 5 } });
        let projected = parsed(&text).project(&lead);
        let kept = projected["lead"].as_object().map(|lead| lead.keys().cloned().collect::<Vec<_>>());
        prop_assert_eq!(kept.unwrap_or_default(), lead_names(&text));
    }
}
