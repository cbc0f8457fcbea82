//! The public booking page in a real browser. Without a browser, these tests pass with a message.

pub mod browser;
mod hostile;
mod stage;

use serde_json::json;

use browser::Visitor;
use stage::{
    BOOKED, CHOOSING, CONFIRMING, FAILED, JAPANESE, NEW_YORKER, PAULISTA, Stage, TOLD, WITHOUT_ZONE, gone,
};

#[test]
fn a_click_and_the_form_book_a_time_once() {
    let Some(mut stage) = Stage::set() else { return };
    stage.open(PAULISTA, "");
    let before = stage.free();
    let [slot, _] = stage.next_month();
    stage.choose(&slot);
    stage.browser.click("#send", 1);
    let untouched = stage.browser.evaluate("[form.checkValidity(), Boolean(working)]");
    assert_eq!(untouched, json!([false, false]), "nothing is sent without a name");
    stage.fill_in();
    let chosen = stage.browser.text("chosen");
    stage.browser.click("#send", 2);
    stage.browser.until(BOOKED);
    assert_eq!(stage.browser.text("done-title"), "Reunião agendada");
    assert_eq!(chosen, format!("{} às 10:30", stage.browser.text("booked")));
    let number = stage.number();
    let facts = json!([
        ["Nome", "Zoé"],
        ["E-mail", "zoe@example.com"],
        ["Horário", "10:30 – 11:00"],
        ["Fuso horário", "Horário Padrão de Brasília (America/Sao Paulo)"],
        ["Número da reunião", number],
    ]);
    assert_eq!(stage.facts(), facts);
    let shown = "document.getElementById('facts').innerText.includes('zoe@example.com')";
    assert_eq!(stage.browser.evaluate(shown), json!(true));
    assert_eq!(gone(&before, &stage.free()), [slot]);
    stage.is_sound();
}

#[test]
fn a_concurrently_taken_time_is_reported_and_the_form_is_kept() {
    let Some(mut stage) = Stage::set() else { return };
    stage.open(PAULISTA, "");
    let before = stage.free();
    let [slot, next] = stage.next_month();
    stage.choose(&slot);
    stage.fill_in();
    stage.take(&slot);
    stage.browser.click("#send", 1);
    stage.browser.until(&format!("{TOLD} && {CHOOSING}"));
    assert_eq!(
        stage.browser.text("alert"),
        "Esse horário acabou de ser ocupado. Escolha outro; o que você escreveu continua aqui."
    );
    assert_eq!(
        gone(&before, &stage.free()),
        std::slice::from_ref(&slot),
        "nothing else was booked"
    );
    let listed = "[...document.querySelectorAll('#list button')].map(button => button.value)";
    let listed: Vec<String> = serde_json::from_value(stage.browser.evaluate(listed)).unwrap();
    assert!(listed.len() == 5 && !listed.contains(&slot), "{listed:?}");
    stage.choose(&next);
    stage.browser.click("#send", 1);
    stage.browser.until(BOOKED);
    assert_eq!(gone(&before, &stage.free()), [slot, next]);
    stage.is_sound();
}

/// C-10: the booking succeeds and its response is lost. A retry books nothing more, and the page permits no other
/// booking.
#[test]
fn a_lost_response_is_retried_with_the_same_key() {
    let Some(mut stage) = Stage::set() else { return };
    stage.open(PAULISTA, "");
    let before = stage.free();
    let [slot, _] = stage.next_month();
    stage.choose(&slot);
    stage.fill_in();
    let answers =
        json!({ "patterns": [{ "urlPattern": "*/calendarmeeting?*", "requestStage": "Response" }] });
    stage.browser.command("Fetch.enable", &answers);
    let mut keys = Vec::new();
    for _ in 0..2 {
        stage.browser.click("#send", 1);
        let paused = stage.browser.event("Fetch.requestPaused");
        assert_eq!(paused["responseStatusCode"], 200, "{paused}");
        keys.push(paused["request"]["headers"]["idempotency-key"].clone());
        let lost = json!({ "requestId": paused["requestId"], "errorReason": "ConnectionReset" });
        stage.browser.command("Fetch.failRequest", &lost);
        stage.browser.until(&format!("{TOLD} && !working"));
        assert_eq!(
            stage.browser.text("alert"),
            "Não houve resposta. Tente de novo: o pedido não será feito duas vezes."
        );
        stage.browser.press(&["Escape"]);
        let locked = "[form.elements.email.readOnly, document.getElementById('back').hidden, \
                      document.getElementById('details').hidden]";
        assert_eq!(stage.browser.evaluate(locked), json!([true, true, false]));
    }
    stage.browser.command("Fetch.disable", &json!({}));
    stage.browser.click("#send", 1);
    stage.browser.until(BOOKED);
    assert_eq!(keys[0], keys[1]);
    assert!(keys[0].as_str().is_some_and(|key| key.len() == 32), "{keys:?}");
    assert_eq!(gone(&before, &stage.free()), [slot]);
    stage.is_sound();
}

/// A rejected booking can be changed, and is then a new attempt. A booking with an unknown outcome cannot be changed,
/// even after a retry without a clear response.
#[test]
fn rejections_are_shown_and_unknown_outcomes_are_resolved_first() {
    let Some(mut stage) = Stage::set() else { return };
    stage.open(PAULISTA, "");
    let before = stage.free();
    let [slot, _] = stage.next_month();
    stage.choose(&slot);
    stage.fill_in();
    let calls = json!({ "patterns": [{ "urlPattern": "*/calendarmeeting?*" }] });
    stage.browser.command("Fetch.enable", &calls);
    let busy = json!({ "error": "Too many requests" });
    let email = "formData.email: must have at most 255 characters";
    let refused = json!({ "error": "Invalid request", "details": email });
    let other = json!({ "error": "Key used", "msg": "Idempotency-Key was used with another body" });
    let failed = json!({ "error": "Internal error" });
    let (wait, again) = (
        "Há muitos pedidos agora. Tente de novo em 17 segundos.",
        "Não houve resposta. Tente de novo: o pedido não será feito duas vezes.",
    );
    let mut keys = Vec::new();
    for (status, body, told, locked) in [
        (429, &busy, wait, false),
        (400, &refused, "O e-mail não foi aceito.", false),
        (422, &other, "O pedido foi recusado.", false),
        (500, &failed, again, true),
        (429, &busy, wait, true),
    ] {
        stage.browser.click("#send", 1);
        let request = stage.browser.answer(status, body);
        keys.push(request["headers"]["idempotency-key"].clone());
        stage.browser.until(&format!("{TOLD} && !working"));
        assert_eq!(stage.browser.text("alert"), told);
        let shown = "[form.elements.email.readOnly, document.getElementById('back').hidden]";
        assert_eq!(stage.browser.evaluate(shown), json!([locked, locked]));
    }
    stage.browser.command("Fetch.disable", &json!({}));
    stage.browser.click("#send", 1);
    stage.browser.until(BOOKED);
    assert!(
        keys[0] != keys[1] && keys[1] != keys[2] && keys[2] != keys[3] && keys[3] == keys[4],
        "{keys:?}"
    );
    assert_eq!(gone(&before, &stage.free()), [slot]);
    stage.is_sound();
}

/// The page states what is booked, shows days and times in the chosen zone, and offers a file with the time in UTC.
#[test]
fn the_visitor_chooses_the_zone_and_takes_the_meeting_along() {
    let Some(mut stage) = Stage::set() else { return };
    stage.open(PAULISTA, "");
    assert_eq!(stage.browser.text("what"), "Conversa · 30 min · com Bruno Lima");
    stage
        .browser
        .evaluate("zones.value = 'Pacific/Auckland'; zones.dispatchEvent(new Event('change')); null");
    stage
        .browser
        .until("document.getElementById('calendar-zone').textContent.includes('Sao Paulo')");
    let [slot, _] = stage.next_month();
    stage.choose(&slot);
    stage.fill_in();
    let chosen = stage.browser.text("chosen");
    let there = stage.browser.evaluate(&format!(
        "new Intl.DateTimeFormat('pt-BR', {{ dateStyle: 'full', timeStyle: 'short', timeZone: 'Pacific/Auckland' }})\
         .format(new Date('{slot}'))"
    ));
    assert_eq!(there, chosen);
    stage.browser.click("#send", 1);
    stage.browser.until(BOOKED);
    let start = slot.replace(['-', ':'], "").replace(".000", "");
    assert!(stage.file().contains(&format!("DTSTART:{start}")));
    stage.is_sound();
}

/// C-55: a meeting can be cancelled from the confirmation and from its link, after a question, also if its calendar is
/// inactive by then. Its time becomes free.
#[test]
fn a_meeting_can_be_cancelled() {
    let Some(mut stage) = Stage::set() else { return };
    stage.open(PAULISTA, "");
    let before = stage.free();
    let [slot, _] = stage.next_month();
    for (reloads, unpublishes) in [(false, false), (true, false), (true, true)] {
        stage.book(&slot);
        if unpublishes {
            stage.unpublish();
        }
        if reloads {
            stage.browser.reload(BOOKED);
        }
        let offered = "['link', 'drop', 'anew'].map(id => document.getElementById(id).hidden)";
        assert_eq!(stage.browser.evaluate(offered), json!([unpublishes, false, true]));
        stage.browser.click("#drop", 1);
        stage.browser.click("#keep-it", 1);
        stage.browser.until(BOOKED);
        stage.browser.click("#drop", 1);
        stage.browser.click("#drop-it", 1);
        stage
            .browser
            .until(&format!("{BOOKED} && document.getElementById('drop').hidden"));
        let ended = ["Esta reunião está cancelada.", " Agendar outra?"];
        let ended = &ended[..2 - usize::from(unpublishes)];
        assert_eq!(stage.browser.text("done-title"), ended.concat());
        assert_eq!(stage.browser.evaluate(offered), json!([true, true, unpublishes]));
        stage.browser.reload(BOOKED);
        assert_eq!(stage.browser.text("done-title"), ended.concat());
        if !unpublishes {
            assert_eq!(gone(&before, &stage.free()), Vec::<String>::new());
            stage.browser.click("#anew", 1);
            stage.browser.until(CHOOSING);
            stage.next_month();
        }
    }
    stage.is_sound();
}

/// C-55: a meeting that was cancelled elsewhere, or has begun, is shown as such, also if the page was open before.
#[test]
fn a_meeting_that_is_over_cannot_be_changed() {
    let Some(mut stage) = Stage::set() else { return };
    stage.open(PAULISTA, "");
    let [slot, _] = stage.next_month();
    stage.book(&slot);
    let link = stage.link();
    stage.cancel(&slot, &link);
    stage.browser.click("#drop", 1);
    stage.browser.click("#drop-it", 1);
    stage
        .browser
        .until(&format!("{BOOKED} && !document.getElementById('anew').hidden"));
    let canceled = "Esta reunião está cancelada. Agendar outra?";
    assert_eq!(stage.browser.text("done-title"), canceled);
    let calls = json!({ "patterns": [{ "urlPattern": "*/calendarmeeting/slots?*" }] });
    stage.browser.command("Fetch.enable", &calls);
    stage.browser.evaluate("window.stale = true; location.reload()");
    let past = json!({ "date": "2026-01-05T12:00:00.000Z", "status": "rescheduled", "moves": 1 });
    let calendar = json!({ "name": "Conversa", "company": null, "host": null, "durationMinutes": 45 });
    let data =
        json!({ "slots": [slot], "timezone": "America/Sao_Paulo", "calendar": calendar, "meeting": past });
    stage.browser.answer(200, &json!({ "data": data }));
    stage.browser.until(&format!("!window.stale && {BOOKED}"));
    assert_eq!(
        stage.browser.text("done-title"),
        "O horário desta reunião já passou. Agendar outra?"
    );
    // Its duration is that of the booking.
    assert_eq!(stage.facts()[0], json!(["Horário", "09:00 – 09:30"]));
    let offered = "['file', 'link', 'drop', 'anew'].map(id => document.getElementById(id).hidden)";
    assert_eq!(stage.browser.evaluate(offered), json!([true, true, true, false]));
    stage.is_sound();
}

/// The file has one UID. Its SEQUENCE rises, so a calendar program takes over each change, and the cancellation.
#[test]
fn the_file_follows_the_meeting() {
    let Some(mut stage) = Stage::set() else { return };
    stage.open(PAULISTA, "");
    let [slot, next] = stage.next_month();
    let name = "Conversa\u{2028}de\u{85}1\r\nhora;\u{1f600} é, ".repeat(9);
    let name = format!("calendar.name = {}", json!(name));
    stage.browser.evaluate(&name);
    stage.book(&slot);
    let (number, page) = (stage.number(), stage.browser.evaluate("location.href"));
    let page = page.as_str().unwrap().to_owned();
    let stamp = |slot: &str| slot.replace(['-', ':'], "").replace(".000", "");
    let file = |method: &str, moves: u64, status: &str, start: &str, end: &str, name: &str| {
        format!(
            "BEGIN:VCALENDAR|VERSION:2.0|PRODID:-//Funil//Booking//EN|{method}BEGIN:VEVENT|UID:{number}.demo@funil|\
             SEQUENCE:{moves}|STATUS:{status}|DTSTART:{}|DTEND:{}|SUMMARY:{name} · 30 min · com Bruno Lima|URL:{page}|\
             END:VEVENT|END:VCALENDAR",
            stamp(start),
            stamp(end)
        )
    };
    let name = "Conversa de 1 hora\\;\u{1f600} é\\, ".repeat(9);
    let booked = file("", 0, "CONFIRMED", &slot, &next, &name);
    assert_eq!(stage.file().join("|"), booked);
    stage.browser.click("#link", 1);
    stage.browser.until(CHOOSING);
    stage.next_month();
    stage.choose(&next);
    stage.browser.click("#send", 1);
    stage.browser.until(BOOKED);
    let end = next.replace(":00:00", ":30:00");
    let moved = file("", 1, "CONFIRMED", &next, &end, "Conversa");
    let canceled = file("METHOD:CANCEL|", 2, "CANCELLED", &next, &end, "Conversa");
    assert_eq!(stage.file().join("|"), moved);
    stage.browser.reload(BOOKED);
    assert_eq!(stage.file().join("|"), moved, "after a reload");
    stage.browser.click("#drop", 1);
    stage.browser.click("#drop-it", 1);
    stage
        .browser
        .until(&format!("{BOOKED} && document.getElementById('drop').hidden"));
    assert_eq!(stage.file().join("|"), canceled);
    stage.is_sound();
}

#[test]
fn without_free_times_later_dates_can_be_requested() {
    let Some(mut stage) = Stage::set() else { return };
    stage.open_link(PAULISTA, "demo/passado", CHOOSING);
    let none = stage.browser.text("none");
    for _ in 0..2 {
        let until = stage.browser.evaluate("format(known, FULL_DAY)");
        let told = format!("Nenhum horário livre até {}.", until.as_str().unwrap());
        assert_eq!(stage.browser.text("none"), told);
        assert_eq!(stage.browser.text("live"), told);
        stage.browser.evaluate("window.before = known");
        stage.browser.click("#later", 1);
        stage
            .browser
            .until("known - before === 62 * 86400000 && !working");
    }
    assert_ne!(stage.browser.text("none"), none);
    stage.is_sound();
}

#[test]
fn the_page_works_with_the_keyboard() {
    let Some(mut stage) = Stage::set() else { return };
    stage.open(PAULISTA, "");
    let before = stage.free();
    let focused = "document.activeElement.id || document.activeElement.name || document.activeElement.value";
    // The days are one tab stop; arrow keys move between days, and Enter goes to the times.
    stage.browser.press(&["Tab", "Tab", "Tab"]);
    assert_eq!(stage.browser.evaluate(focused), "later");
    stage.browser.press(&["Enter"]);
    stage
        .browser
        .until("document.activeElement.id === 'choose-title' && !working");
    stage.browser.press(&["Tab", "ArrowRight", "Enter"]);
    let slot = stage.browser.evaluate(focused);
    let slot = slot.as_str().unwrap();
    assert!(before.iter().any(|free| free == slot), "{slot}");
    stage.browser.press(&["Enter"]);
    stage
        .browser
        .until("document.activeElement.id === 'details-title'");
    stage.browser.press(&["Escape"]);
    assert_eq!(stage.browser.evaluate(focused), slot);
    stage.browser.press(&["Enter", "Tab"]);
    stage.browser.write("Zoé");
    stage.browser.press(&["Tab", "Tab"]);
    stage.browser.write("zoe@example.com");
    stage.browser.press(&["Enter"]);
    stage.browser.until("document.activeElement.id === 'done-title'");
    assert_eq!(gone(&before, &stage.free()), [slot]);
    stage.is_sound();
}

/// The page uses the first language with prefix pt or en, else English. It shows times in the visitor's zone, and in
/// the calendar's if that differs.
#[test]
fn the_page_uses_the_visitors_language_and_zone() {
    let Some(mut stage) = Stage::set() else { return };
    let title = "[document.title, document.documentElement.lang]";
    for (languages, expected) in [
        ("de-DE,fr", ["Book a meeting", "en"]),
        ("es,pt-PT,en", ["Agende uma reunião", "pt-PT"]),
        ("en-US,pt", ["Book a meeting", "en-US"]),
    ] {
        stage.open(
            Visitor {
                languages,
                ..PAULISTA
            },
            "",
        );
        assert_eq!(stage.browser.evaluate(title), json!(expected));
    }
    stage.open(JAPANESE, "");
    assert_eq!(stage.browser.evaluate(title), json!(["Book a meeting", "en-GB"]));
    assert_eq!(
        stage.browser.text("calendar-zone"),
        "The calendar is kept in America/Sao Paulo."
    );
    let [slot, _] = stage.next_month();
    stage.book(&slot);
    let (day, number) = (stage.browser.text("booked"), stage.number());
    let facts = json!([
        ["Name", "Zoé"],
        ["E-mail", "zoe@example.com"],
        ["Time", "22:30 – 23:00"],
        ["Time zone", "Japan Standard Time (Asia/Tokyo)"],
        [
            "Time on the calendar",
            format!("{day} at 10:30 (America/Sao Paulo)")
        ],
        ["Meeting number", number],
    ]);
    assert_eq!(stage.facts(), facts);
    stage.is_sound();
}

/// C-55: a meeting can be moved any number of times. Its link, which is the page's address, stays.
#[test]
fn a_meeting_can_be_moved_by_its_link() {
    let Some(mut stage) = Stage::set() else { return };
    stage.open(PAULISTA, "");
    let before = stage.free();
    let [slot, next] = stage.next_month();
    stage.book(&slot);
    let (number, link) = (stage.number(), stage.link());
    for (from, to) in [(&slot, &next), (&next, &slot)] {
        let when = stage.browser.evaluate("nameTime(meeting.start)");
        stage.browser.click("#link", 1);
        stage.browser.until(CHOOSING);
        assert_eq!(
            stage.browser.text("moving"),
            format!(
                "Você está mudando o horário da reunião nº {number} ({}).",
                when.as_str().unwrap()
            )
        );
        stage.browser.click("#stay", 1);
        stage.browser.until(BOOKED);
        stage.browser.click("#link", 1);
        stage.browser.until(CHOOSING);
        stage.next_month();
        stage.choose(to);
        let asked = "[...document.querySelectorAll('input')].filter(input => input.offsetHeight).length";
        assert_eq!(
            stage.browser.evaluate(asked),
            0,
            "nobody is asked for a name again"
        );
        stage.browser.click("#send", 1);
        stage.browser.until(BOOKED);
        assert_eq!(stage.browser.text("done-title"), "Horário alterado");
        assert!(stage.free().contains(from));
        assert_eq!(gone(&before, &stage.free()), std::slice::from_ref(to));
        let shown = (stage.number(), stage.link(), stage.facts());
        assert_eq!((&shown.0, &shown.1), (&number, &link));
        stage.browser.reload(BOOKED);
        assert_eq!(stage.browser.text("done-title"), "Reunião agendada");
        assert_eq!((stage.number(), stage.link(), stage.facts()), shown);
    }
    stage.is_sound();
}

/// Systems without a zone report `Etc/Unknown` or nothing.
#[test]
fn an_unknown_zone_is_replaced_by_the_calendars() {
    let Some(mut stage) = Stage::set() else { return };
    stage.open(WITHOUT_ZONE, "");
    let chosen =
        "[new Intl.DateTimeFormat().resolvedOptions().timeZone ?? null, zones.value, zones.disabled]";
    for reported in [json!("Etc/Unknown"), json!(null)] {
        let expected = json!([reported, "America/Sao_Paulo", false]);
        assert_eq!(stage.browser.evaluate(chosen), expected);
        let [slot, _] = stage.next_month();
        stage.choose(&slot);
        let chosen = stage.browser.text("chosen");
        assert!(chosen.ends_with("às 10:30"), "{chosen}");
        let without = "{ const of = Intl.DateTimeFormat.prototype.resolvedOptions; Intl.DateTimeFormat.prototype\
                       .resolvedOptions = function () { return { ...of.call(this), timeZone: undefined }; }; }";
        let script = json!({ "source": without });
        stage
            .browser
            .command("Page.addScriptToEvaluateOnNewDocument", &script);
        stage.browser.reload(CHOOSING);
    }
    stage.is_sound();
}

/// C-52: where clocks go back, an hour has two of each time. Their names differ in the list, form and confirmation.
#[test]
fn times_of_a_repeated_hour_have_different_names() {
    let Some(mut stage) = Stage::set() else { return };
    stage.open_link(NEW_YORKER, "demo/noite", CHOOSING);
    let names = stage.browser.evaluate(
        "(async () => {
            const year = new Date().getUTCFullYear() + 1;
            window.sunday = Date.UTC(year, 10, 1 + (7 - new Date(Date.UTC(year, 10, 1)).getUTCDay()) % 7);
            await openMonth(monthOf(sunday), sunday);
            return [...document.querySelectorAll('#list button')].map(button => button.textContent);
        })()",
    );
    let expected = [
        "12:00 AM",
        "12:30 AM",
        "1:00 AM EDT",
        "1:30 AM EDT",
        "1:00 AM EST",
        "1:30 AM EST",
        "2:00 AM",
        "2:30 AM",
    ];
    assert_eq!(names, json!(expected));
    stage.browser.click("#list li:nth-child(4) button", 1);
    stage.browser.until(CONFIRMING);
    let chosen = stage.browser.text("chosen");
    assert!(chosen.ends_with(" at 1:30 AM EDT"), "{chosen}");
    stage.fill_in();
    stage.browser.click("#send", 1);
    stage.browser.until(BOOKED);
    assert_eq!(stage.facts()[2], json!(["Time", "1:30 AM EDT – 1:00 AM EST"]));
    stage.browser.click("#drop", 1);
    assert_eq!(stage.browser.text("dropping"), chosen);
    stage.is_sound();
}

/// Only CL006 and 404 make a link a wrong one. Anything else can be tried again, also an error of the page.
#[test]
fn failures_are_not_taken_for_wrong_links() {
    let Some(mut stage) = Stage::set() else { return };
    stage.open(PAULISTA, "");
    let calls = json!({ "patterns": [{ "urlPattern": "*/calendarmeeting/slots?*" }] });
    stage.browser.command("Fetch.enable", &calls);
    stage.browser.evaluate("window.stale = true; location.reload()");
    let (link, failed) = ("Este link não está ativo", "Algo deu errado. Tente de novo.");
    for (status, body, told) in [
        (500, json!({ "error": "Internal error" }), failed),
        (
            200,
            json!({ "data": { "slots": ["2099-01-05T12:00:00.000Z"], "timezone": "UTC" } }),
            failed,
        ),
        (
            400,
            json!({ "error": "Invalid request", "details": "from: must be a time" }),
            failed,
        ),
        (404, json!({ "error": "Not found" }), link),
        (400, json!({ "error": "CL006", "msg": "no" }), link),
    ] {
        stage.browser.answer(status, &body);
        stage.browser.until(&format!("!window.stale && {FAILED}"));
        assert_eq!(stage.browser.text("failed-title"), told, "{status} {body}");
        let retry = "document.getElementById('reload').hidden";
        assert_eq!(stage.browser.evaluate(retry), json!(told == link));
        stage
            .browser
            .evaluate("document.getElementById('reload').click()");
    }
    stage.browser.command("Fetch.disable", &json!({}));
    stage.browser.until(CHOOSING);
    stage.is_sound();
}
