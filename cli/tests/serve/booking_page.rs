//! The public booking page in a real browser. Without a browser, these tests pass with a message.

pub mod browser;
mod hostile;
mod stage;

use serde_json::json;

use browser::Visitor;
use stage::{BOOKED, CHOOSING, JAPANESE, PAULISTA, Stage, TOLD, gone};

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
        ["Seu fuso", "Horário Padrão de Brasília (America/Sao Paulo)"],
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
    let refused = json!({ "error": "Invalid request", "details": "formData.email" });
    let failed = json!({ "error": "Internal error" });
    let (wait, again) = (
        "Há muitos pedidos agora. Tente de novo em 17 segundos.",
        "Não houve resposta. Tente de novo: o pedido não será feito duas vezes.",
    );
    let mut keys = Vec::new();
    for (status, body, told, locked) in [
        (429, &busy, wait, false),
        (400, &refused, "O pedido foi recusado (formData.email).", false),
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
        keys[0] != keys[1] && keys[1] != keys[2] && keys[2] == keys[3],
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
    let file = stage
        .browser
        .evaluate("decodeURIComponent(document.getElementById('file').href).replaceAll('\\r\\n ', '')");
    let start = slot.replace(['-', ':'], "").replace(".000", "");
    for line in [
        format!("DTSTART:{start}"),
        "SUMMARY:Conversa · 30 min · com Bruno Lima".to_owned(),
    ] {
        assert!(file.as_str().unwrap().contains(&line), "{file}");
    }
    stage.is_sound();
}

/// A meeting can be cancelled from the confirmation and from its link, after a question. Its time becomes free.
#[test]
fn a_meeting_can_be_cancelled() {
    let Some(mut stage) = Stage::set() else { return };
    let dropped =
        format!("{BOOKED} && document.getElementById('done-title').textContent === 'Reunião cancelada'");
    stage.open(PAULISTA, "");
    let before = stage.free();
    let [slot, _] = stage.next_month();
    for button in ["#drop-booked", "#drop"] {
        stage.book(&slot);
        if button == "#drop" {
            stage.browser.click("#link", 1);
            stage.browser.until(&format!(
                "!document.getElementById('moving').hidden && {CHOOSING}"
            ));
        }
        stage.browser.click(button, 1);
        stage.browser.click("#keep-it", 1);
        assert_eq!(gone(&before, &stage.free()), std::slice::from_ref(&slot));
        stage.browser.click(button, 1);
        stage.browser.click("#drop-it", 1);
        stage.browser.until(&dropped);
        assert_eq!(gone(&before, &stage.free()), Vec::<String>::new());
        stage.open(PAULISTA, "");
        stage.next_month();
    }
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
        ["Your time zone", "Japan Standard Time (Asia/Tokyo)"],
        [
            "Time on the calendar",
            format!("{day} at 10:30 (America/Sao Paulo)")
        ],
        ["Meeting number", number],
    ]);
    assert_eq!(stage.facts(), facts);
    stage.is_sound();
}

/// C-55: a meeting can be moved any number of times.
#[test]
fn a_meeting_can_be_moved_by_its_link() {
    let Some(mut stage) = Stage::set() else { return };
    stage.open(PAULISTA, "");
    let before = stage.free();
    let [slot, next] = stage.next_month();
    stage.book(&slot);
    let (number, link) = (stage.number(), stage.link());
    stage.browser.click("#link", 1);
    for (from, to) in [(&slot, &next), (&next, &slot)] {
        let moving = format!("!document.getElementById('moving').hidden && {CHOOSING}");
        stage.browser.until(&moving);
        assert_eq!(
            stage.browser.text("moving"),
            format!("Você está mudando o horário da reunião nº {number}.")
        );
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
        assert_eq!((stage.number(), stage.link()), (number.clone(), link.clone()));
        assert_eq!(stage.date_of_link(), *to);
        assert!(stage.free().contains(from));
        assert_eq!(gone(&before, &stage.free()), std::slice::from_ref(to));
        stage.browser.click("#link", 1);
    }
    stage.is_sound();
}
