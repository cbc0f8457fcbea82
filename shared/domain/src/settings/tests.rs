use super::*;
use serde_json::json;

#[test]
fn settings_accept_text_and_json() {
    let mut settings = Settings::default();
    for (name, value) in [
        ("timezone", json!("America/Sao_Paulo")),
        ("currency", json!("eur")),
        ("page_base", json!("0")),
        ("credential_placement", json!("anywhere")),
        ("requests_per_minute", json!(600)),
        ("webhook_requests_per_minute", json!("30")),
        ("read_budget", json!("5000")),
        ("voip_webhook_secret", json!("s3cret")),
    ] {
        settings.set(name, &value).unwrap();
    }
    assert_eq!(
        settings.entries(),
        [
            ("voip_webhook_secret", json!("s3cret")),
            ("timezone", json!("America/Sao_Paulo")),
            ("currency", json!("EUR")),
            ("page_base", json!(0)),
            ("credential_placement", json!("anywhere")),
            ("requests_per_minute", json!(600)),
            ("webhook_requests_per_minute", json!(30)),
            ("read_budget", json!(5000)),
        ]
    );
    assert_eq!(settings.read_budget().get(), 5000);
    assert_eq!(settings.currency(), "EUR");
    settings.set("currency", &Value::Null).unwrap();
    assert_eq!(settings.currency(), "BRL");
    settings.set("timezone", &Value::Null).unwrap();
    assert_eq!(settings.zone(), Zone::UTC);
    let stored: Settings = serde_json::from_value(serde_json::to_value(&settings).unwrap()).unwrap();
    assert_eq!(stored, settings);
}

#[test]
fn unknown_names_and_bad_values_are_refused() {
    let mut settings = Settings::default();
    assert_eq!(
        settings.set("timezones", &json!("UTC")),
        Err(SettingError::Unknown)
    );
    for (name, bad) in [
        ("timezone", json!("Brasilia")),
        ("timezone", json!(3)),
        ("currency", json!("R$")),
        ("currency", json!("XXX")),
        ("currency", json!("BRL USD")),
        ("currency", json!(986)),
        ("page_base", json!(2)),
        ("page_base", json!(-1)),
        ("page_base", json!("00")),
        ("requests_per_minute", json!("+60")),
        ("credential_placement", json!("Anywhere")),
        ("requests_per_minute", json!(0)),
        ("public_requests_per_minute", json!(1.5)),
        ("webhook_requests_per_minute", json!(1_000_001)),
        ("read_budget", json!(0)),
        ("read_budget", json!(1_000_001)),
        ("voip_webhook_secret", json!("")),
        ("voip_webhook_secret", json!("a".repeat(257))),
        ("voip_webhook_secret", json!(" led by a space")),
        ("voip_webhook_secret", json!("ended by a space ")),
        ("voip_webhook_secret", json!("of two\nlines")),
        ("voip_webhook_secret", json!("with a\ttab")),
        ("voip_webhook_secret", json!("não é ASCII")),
    ] {
        assert!(
            matches!(settings.set(name, &bad), Err(SettingError::Value(..))),
            "{name} {bad}"
        );
    }
    assert_eq!(settings, Settings::default());
}

#[test]
fn pages_count_from_one_unless_set() {
    let mut settings = Settings::default();
    assert_eq!(settings.page_base(), 1);
    settings.set("page_base", &json!(0)).unwrap();
    assert_eq!(settings.page_base(), 0);
}

#[test]
fn a_webhook_needs_the_secret_only_where_one_is_set() {
    let mut settings = Settings::default();
    assert!(settings.admits_webhook(None) && settings.admits_webhook(Some("any")));
    settings.set("voip_webhook_secret", &json!("right")).unwrap();
    assert!(settings.admits_webhook(Some("right")));
    assert!(
        !settings.admits_webhook(None)
            && !settings.admits_webhook(Some("righ"))
            && !settings.admits_webhook(Some(""))
    );
    assert!(!format!("{settings:?}").contains("right"));
}
