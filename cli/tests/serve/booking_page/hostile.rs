//! Wrong links, hostile addresses, and the content security policy.

use serde_json::{Value, json};

use super::stage::{CHOOSING, FAILED, PAULISTA, Stage, gone};

/// C-55: a link with a wrong key shows no meeting.
#[test]
fn a_wrong_link_moves_nothing() {
    let Some(mut stage) = Stage::set() else { return };
    stage.open(PAULISTA, "");
    let before = stage.free();
    let [slot, _] = stage.next_month();
    stage.book(&slot);
    let link = stage.link();
    let (id, key) = link.split_once('.').unwrap();
    let other = if key.starts_with('0') { '1' } else { '0' };
    let link = format!("demo/conversa{id}.{other}{}", &key[1..]);
    stage.open_link(PAULISTA, &link, FAILED);
    assert_eq!(
        stage.browser.text("failed-title"),
        "Este link para mudar o horário não vale mais. Sua reunião não foi alterada."
    );
    stage.browser.click("#restart", 1);
    stage.browser.until(CHOOSING);
    assert_eq!(stage.browser.evaluate("meeting"), Value::Null);
    assert_eq!(gone(&before, &stage.free()), [slot]);
    stage.is_sound();
}

/// The page reports a truncated link. Otherwise the visitor would book a second meeting instead of moving the first
/// one.
#[test]
fn hostile_fragments_are_rejected() {
    let Some(mut stage) = Stage::set() else { return };
    let key = "a".repeat(64);
    for behind in [
        "#<img src=x onerror=alert(1)>".to_owned(),
        "#%3Cimg%20src=x%3E.1.2".to_owned(),
        format!("#0.{key}.30"),
        format!("#1e3.{key}.30"),
        format!("#1.{key}0.30"),
        format!("#1.{}.30", &key[1..]),
        format!("#1.{key}"),
        format!("#9999999999999999.{key}.30"),
    ] {
        stage.open(PAULISTA, &behind);
        assert_eq!(
            stage.browser.text("alert"),
            "O link para mudar o horário está incompleto. Nesta página você agenda uma nova reunião.",
            "{behind}"
        );
        assert_eq!(stage.browser.evaluate("meeting"), Value::Null);
        assert_eq!(
            stage.browser.evaluate("document.querySelector('img')"),
            Value::Null
        );
        stage.is_sound();
    }
}

#[test]
fn hostile_addresses_are_not_shown() {
    let Some(mut stage) = Stage::set() else { return };
    for path in [
        "demo/nowhere",
        "nowhere/conversa",
        "demo/%3Cimg%20src=x%20onerror=alert(1)%3E",
        "%22%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E/conversa",
        "demo&keyName=conversa/x",
        "demo/%E0%A4%A",
    ] {
        stage.open_link(PAULISTA, path, FAILED);
        let shown = "document.body.innerText.trim().split(/\\n+/)";
        let expected = [
            "Agende uma reunião",
            "Este link não está ativo",
            "Confira o endereço ou peça um novo link a quem o enviou.",
        ];
        assert_eq!(stage.browser.evaluate(shown), json!(expected), "{path}");
        let foreign = "document.querySelectorAll('img, script').length";
        assert_eq!(stage.browser.evaluate(foreign), 1, "{path}");
        stage.is_sound();
    }
}

/// The policy works, so other tests would detect violations.
#[test]
fn the_content_security_policy_is_enforced() {
    let Some(mut stage) = Stage::set() else { return };
    stage.open(PAULISTA, "");
    stage.is_sound();
    for (forbidden, violation) in [
        (
            "document.body.setAttribute('style', 'color: red')",
            "style-src-attr inline",
        ),
        (
            "document.body.append(Object.assign(new Image(), { src: 'x.png' }))",
            "img-src",
        ),
        (
            "try { document.body.innerHTML = 'x' } catch {}",
            "require-trusted-types-for",
        ),
    ] {
        stage.browser.evaluate(&format!("{forbidden}; null"));
        stage.browser.until(&format!(
            "violations.some(violation => violation.startsWith('{violation}'))"
        ));
    }
    assert!(stage.browser.faults().len() >= 3);
}
