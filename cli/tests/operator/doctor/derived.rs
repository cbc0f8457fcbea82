//! `funil doctor` checks derived items: entries of lists, look-ups, totals, counters, names and events.

use std::fmt::Write as _;

use serde_json::json;

use super::{assert_clean, assert_restores, bench, damage, doctor, found, id, repair};

#[test]
fn derived_items_that_are_missing_or_wrong() {
    assert_restores(
        &bench(),
        r#"
delete | acme#leads#0#7 000000000000001 | is missing: lead 1 has it
delete | acme#phone#5511973263471 0#000000000000001 | is missing: lead 1 has it
delete | acme#company-lead#2 000000000000001 | is missing: lead 1 has it
set n {"S":"Somebody else"} | acme#leads#0 000000000000001 | is not what is derived: lead 1 has it
set o {"N":"7"} | acme#leads#1 000000000000003 | is not what is derived: lead 3 has it
delete | acme#board#3#31#0#-#- 251613786599999#999999999999998 | is missing: opportunity 1 has it
delete | acme#board#3#31#0#-#open 251613786599999#999999999999998 | is missing: opportunity 1 has it
delete | acme#board#3#31#0#7#- 251613786599999#999999999999998 | is missing: opportunity 1 has it
delete | acme#board#3#31#0#7#open 251613786599999#999999999999998 | is missing: opportunity 1 has it
delete | acme#lead-opportunity#2 000000000000002 | is missing: opportunity 2 has it
set e {"S":"{}"} | acme#board#3#32#1#7#- 251613786599999#999999999999996 | is not what is derived: opportunity 3 has it
delete | acme#calendar-link#key-1 calendar | is missing: calendar 1 has it
delete | acme#calendar-public#pub_2 calendar | is missing: calendar 2 has it
set id {"S":"2"} | acme#calendar-public#pub_1 calendar | is not what is derived: calendar 1 has it
set calendar {"S":"{}"} | acme#calendar-link#key-2 calendar | is not what is derived: calendar 2 has it
delete | acme#meetings#1 2027-03-01T12:00:00.000Z#000000000000001 | is missing: meeting 1 has it
set meeting {"S":"{}"} | acme#meetings#1 2027-03-01T23:30:00.000Z#000000000000002 | is not what is derived: meeting 2 has it
delete | acme#lead-meeting#2 000000000000002 | is missing: meeting 2 has it
delete | acme#lead-ticket#1 251624671199999#999999999999998 | is missing: ticket 1 has it
delete | acme#ticket-file#1 id#000000000000007 | is missing: file id#000000000000007 has it
set file {"S":"{}"} | acme#ticket-file#1 path#a#b | is not what is derived: file path#000000000000001#a#b has it
delete | acme#lead-file#1 000000000000001#path#a#b | is missing: file path#000000000000001#a#b has it
delete | acme#timeline#1 event#000000000000001 | is missing: call 1 has it
put {"id":{"N":"2"},"lead":{"N":"2"},"call":{"N":"2"}} | acme#timeline#2 event#000000000000002 | is not what is derived: call 2 has it
"#,
    );
}

/// The items include those of lists that no request reads any more. An item that differs from one record and names
/// another record is reported once.
#[test]
fn items_that_no_record_has() {
    assert_restores(
        &bench(),
        r#"
copy acme#leads#0 000000000000001 | acme#leads#0 000000000009999 | lead 9999 does not exist
copy acme#leads#0 000000000000001 | acme#leads#1 000000000000001 | lead 1 does not have it
copy acme#leads#0 000000000000001 | acme#leads#0#77 000000000000001 | lead 1 does not have it
put {} | acme#phone#5511900000000 0#000000000009999 | lead 9999 does not exist
put {} | acme#phone#5511900000001 1#000000000000001 | lead 1 does not have it
put {} | acme#phone#5511900000002 odd | no lead can have such an item
copy acme#board#3#31#0#-#- 251613786599999#999999999999998 | acme#board#3#31#0#8#- 251613786599999#999999999999998 | opportunity 1 does not have it
copy acme#board#3#31#0#-#- 251613786599999#999999999999998 | acme#board#3#31#0#7#open 251613786600999#999999999999997 | opportunity 2 does not have it
copy acme#board#3#31#0#-#- 251613786599999#999999999999998 | acme#board#9#99#0#-#- 251613786599999#999999999999998 | opportunity 1 does not have it
copy acme#board#3#31#0#-#- 251613786599999#999999999999998 | acme#board#3#31#0#-#- 251613786599999#999999999999900 | opportunity 99 does not exist
copy acme#board#3#31#0#-#- 251613786599999#999999999999998 | acme#board#3#31#0#-#- odd | no opportunity can have such an item
put {} | acme#lead-opportunity#2 000000000000001 | opportunity 1 does not have it
copy acme#calendar-link#key-1 calendar | acme#calendar-link#former calendar | calendar 1 does not have it
copy acme#calendar-link#key-2 calendar | acme#calendar-link#key-1 calendar | is not what is derived: calendar 1 has it
put {} | acme#calendar-public#pub_1 calendar | is not what is derived: calendar 1 has it
put {"id":{"S":"9"}} | acme#calendar-link#gone calendar | calendar 9 does not exist
put {"id":{"S":"2"}} | acme#calendar-public#former calendar | calendar 2 does not have it
put {"id":{"S":"9"}} | acme#calendar-public#gone calendar | calendar 9 does not exist
put {"id":{"S":"x"}} | acme#calendar-public#odd calendar | no calendar can have such an item
put {} | acme#lead-meeting#2 000000000000001 | meeting 1 does not have it
put {} | acme#lead-meeting#7 odd | no meeting can have such an item
put {} | acme#meetings#2 2027-03-01T12:00:00.000Z#000000000000001 | meeting 1 does not have it
put {} | acme#meetings#1 2027-03-01T12:00:00.001Z#000000000000001 | meeting 1 does not have it
put {} | acme#meetings#1 2027-03-01T12:00:00.000Z#000000000000009 | meeting 9 does not exist
put {} | acme#meetings#1 odd | no meeting can have such an item
put {} | acme#lead-ticket#2 251624671199999#999999999999998 | ticket 1 does not have it
put {} | acme#lead-ticket#1 251624671199999#999999999999990 | ticket 9 does not exist
put {} | acme#lead-ticket#1 odd | no ticket can have such an item
put {} | acme#ticket-file#2 id#000000000000007 | file id#000000000000007 does not have it
put {} | acme#ticket-file#2 path#a#b | file path#000000000000002#a#b does not exist
put {} | acme#ticket-file#1 odd | no file can have such an item
put {} | acme#lead-file#2 000000000000001#id#000000000000007 | file id#000000000000007 does not have it
put {} | acme#lead-file#2 000000000000009#path#x | file path#000000000000009#x does not exist
put {} | acme#lead-file#2 odd | no file can have such an item
put {"call":{"N":"1"}} | acme#timeline#2 event#000000000000001 | call 1 does not have it
put {"call":{"N":"99"}} | acme#timeline#3 event#000000000000040 | call 99 does not exist
put {} | acme#timeline#3 event#000000000000041 | no call can have such an item
"#,
    );
}

#[test]
fn totals_and_counters() {
    let bench = bench();
    assert_restores(
        &bench,
        r#"
set n {"N":"-3"} | acme#lead-total#0 7 | counts -3, but there are 1
delete | acme#lead-total#0 none.2 | is missing: there are 1
set userAccess {"L":[{"N":"7"}]} | acme#lead-total-restricted#1 8#* | describes another class
set n {"S":"many"} | acme#lead-total#1 9 | counts no number, but there are 1
set n.7 {"N":"2"} | acme#lead-block#0 000000000000000 | counts 2 of 7, but there are 1
set n.open {"N":"3"} | acme#board-total#3#0 column#31#- | counts 3 of open, but there are 1
set c.31#gain {"N":"-5"} | acme#board-total#3#0 user#8#3#- | adds up to -5 cents of 31#gain, but there are 44
set c.open#restricted {"N":"7"} | acme#board-total#3#1 column#32#- | adds up to 7 cents of open#restricted, but there are 0
delete | acme#board-total-restricted#3#1 32#7#open#* | is missing: there are 1
set n.7#open {"N":"2"} | acme#board-rank#3#31#0 2912196#0 | counts 2 of 7#open, but there are 1; counts no number of 8#gain, but there are 1
set n.8#gain {"S":"one"} | acme#board-rank#3#31#0 2912196#0 | counts 2 of 7#open, but there are 1; counts no number of 8#gain, but there are 1
delete | acme#board-rank#3#32#1 2912196#0 | is missing: there are 1
set n.1803902400000_1803904200000_1 {"N":"2"} | acme#agenda#1 2027-03-01 | counts 2 of 2027-03-01T12:00:00.000Z to 2027-03-01T12:30:00.000Z on calendar 1, but there are 1
delete | acme#agenda#1 2027-03-02 | is missing: there are 1
set n.1803902400000_1803904200000_1 {"N":"0"} | acme#user-agenda#7 2027-03-01 | counts 0 of 2027-03-01T12:00:00.000Z to 2027-03-01T12:30:00.000Z on calendar 1, but there are 1
set n.1 {"N":"9"} | acme#shared-buffers buffers | counts 9 of 1, but there are 1
set n.01 {"N":"2"} | acme#meeting-month#1 2027-03-01 | counts 2 of day 01, but there are 3
set lead {"N":"3"} | acme#counter lead | the last lead is number 3, but there is number 4
set event {"N":"0"} | acme#counter call | the last event is number 0, but there is number 2
set opportunity {"N":"1"} | acme#counter opportunity | the last opportunity is number 1, but there is number 3
set calendar {"N":"0"} | acme#counter calendar | the last calendar is number 0, but there is number 2
set meeting {"N":"2"} | acme#counter meeting | the last meeting is number 2, but there is number 3
set ticket {"N":"1"} | acme#counter ticket | the last ticket is number 1, but there is number 2
"#,
    );
    // A sequence that has ended goes on above the records (C-11).
    assert_restores(
        &bench,
        r#"
set lead {"N":"999999999999999"} | acme#counter lead | the sequence of ids has ended with lead 999999999999999; it goes on after 4
set event {"N":"999999999999999"} | acme#counter call | the sequence of ids has ended with event 999999999999999; it goes on after 2
"#,
    );
    assert_restores(
        &bench,
        r#"
set c.7#open {"N":"9"} | acme#board-rank#3#31#0 2912196#0 | adds up to 9 cents of 7#open, but there are 123456
set c {"N":"5"} | acme#board-rank-restricted#3#32#1 2912196#7#open#* | adds up to 5 cents, but there are 0
unset n.31#open c.31#open | acme#board-total#3#0 user#7#3#- | adds up to 0 cents of 31#open, but there are 123456; counts 0 of 31#open, but there are 1
delete | acme#board-total#3#0 user#8#3#- | is missing: there are 1
set status {"S":"lost"} | acme#board-total-restricted#3#1 32#7#open#* | describes another class
delete | acme#meeting-month#1 2027-03-01 | is missing: there are 3
"#,
    );
}

/// Leads of one owner that differ only in a flag without effect have one total (C-82).
#[test]
fn leads_with_and_without_sub_departments() {
    let bench = bench();
    let lists = ["", r#","userAccess":[9]"#, r#","departmentAccess":[2]"#];
    let flags = ["", r#","ignoreSubDepartments":true"#];
    let leads = lists
        .iter()
        .flat_map(|lists| flags.map(|flag| format!("{lists}{flag}")));
    let lines: Vec<_> = leads
        .zip(11..)
        .map(|(access, id)| crate::import::lead(id, &format!(r#","owner":8{access}"#)))
        .collect();
    bench.import(&lines.concat()).done();
    assert_clean(&bench);
}

/// No list of columns or calendars leads to such totals. They keep their versions, on which writes depend.
#[test]
fn totals_of_no_record() {
    let bench = bench();
    let noon = "n.1803902400000_1803904200000_1";
    let taken =
        "counts 1 of 2027-03-01T12:00:00.000Z to 2027-03-01T12:30:00.000Z on calendar 1, but there are 0";
    let gained = "counts 1 of 8#gain, but there are 0";
    let totals = [
        ("acme#lead-total#0", "77", "n", "counts 1, but there are 0"),
        (
            "acme#board-total#3#0",
            "column#39#-",
            "n.open",
            "counts 1 of open, but there are 0",
        ),
        (
            "acme#board-total#9#0",
            "user#7#9#-",
            "c.91#open",
            "adds up to 1 cents of 91#open, but there are 0",
        ),
        ("acme#board-rank#3#39#0", "2912196#0", "n.8#gain", gained),
        ("acme#board-rank#9#91#1", "2912196#0", "n.8#gain", gained),
        ("acme#agenda#1", "2027-03-03", noon, taken),
        ("acme#agenda#9", "2027-03-01", noon, taken),
        ("acme#user-agenda#77", "2027-03-01", noon, taken),
        (
            "acme#meeting-month#1",
            "2027-04-01",
            "n.30",
            "counts 1 of day 30, but there are 0",
        ),
        (
            "acme#meeting-month#9",
            "2027-03-01",
            "n.30",
            "counts 1 of day 30, but there are 0",
        ),
    ];
    let mut table = String::new();
    for (pk, sk, name, reason) in totals {
        bench.put(
            pk,
            sk,
            &json!({ name: { "N": "0" }, "o": { "N": "77" }, "v": { "N": "6" } }),
        );
        writeln!(table, "set {name} {{\"N\":\"1\"}} | {pk} {sk} | {reason}").unwrap();
    }
    assert_clean(&bench);
    assert_restores(&bench, &table);
    for (pk, sk, ..) in totals {
        assert_eq!(bench.item(pk, sk).unwrap()["v"]["N"], "7", "{pk}");
    }
    // The month of the sort key does not exist, so no request reads the item.
    let odd = "copy acme#meeting-month#1 2027-03-01 | acme#meeting-month#1 2026-13-01 | no meeting can have such an item";
    let odd = damage(&bench, odd);
    assert_eq!(found(&repair(&bench), true), odd);
    assert_clean(&bench);
}

#[test]
fn names_and_members() {
    assert_restores(
        &bench(),
        r#"
set names {"S":"{\"7\":\"Nobody\",\"8\":\"Bruno\",\"77\":\"Nobody\"}"} | acme#names 000000000000000 | the name of user 7 differs from the user's record
 | acme#names 000000000000000 | the name of user 9 is missing
 | acme#names 000000000000000 | has the name of user 77, which differs from the user's record
set users {"S":"[9]"} | acme#members 000000000000002#000000000000000 | the place of user 8 is missing
put {"users":{"S":"[8]"}} | acme#members 000000000000009#000000000000000 | has the place of user 8, which differs from the user's record
"#,
    );
}

/// A call without its event's id is linked with the event again, with everything in the event's own line, or gets a new
/// event.
#[test]
fn a_call_without_its_event() {
    let bench = bench();
    bench.import(&crate::support::event(9, 1, 1)).done();
    let (call, event) = (
        ("acme#call#1", id(1)),
        ("acme#timeline#1", "event#000000000000009"),
    );
    let before = bench.item(event.0, event.1).unwrap();
    let link = || bench.item(call.0, &call.1).unwrap()["event"]["N"].clone();
    assert_eq!(link(), "9");
    let table = "unset event | acme#call#1 000000000000001 | has a lead and no event
        | acme#timeline#1 event#000000000000009 | call 1 does not have it";
    let expected = damage(&bench, table);
    assert_eq!(found(&doctor(&bench), false), expected);
    repair(&bench).done();
    assert_clean(&bench);
    assert_eq!(
        (bench.item(event.0, event.1).unwrap(), link()),
        (before, json!("9"))
    );
    bench.delete(event.0, event.1);
    damage(
        &bench,
        "unset event | acme#call#1 000000000000001 | has a lead and no event",
    );
    repair(&bench).done();
    assert_clean(&bench);
    assert_eq!(link(), "10", "a new number");
}
