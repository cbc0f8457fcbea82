//! Every error names the next step.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::thread;

use crate::support::{Bench, Ended};

/// Runs the command without an AWS account, except for this environment.
fn elsewhere(arguments: &[&str], environment: &[(&str, &str)]) -> Ended {
    let home = tempfile::tempdir().unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_funil"));
    command
        .args(arguments)
        .env_clear()
        .env("HOME", home.path())
        .env("AWS_EC2_METADATA_DISABLED", "true")
        .envs(environment.iter().copied())
        .stdin(Stdio::null());
    command.output().unwrap().into()
}

/// A DynamoDB API that returns one error to every request.
fn refusing(status: &'static str, body: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for client in listener.incoming() {
            let body = body.clone();
            thread::spawn(move || refuse(client.unwrap(), status, &body));
        }
    });
    endpoint
}

fn refuse(mut client: TcpStream, status: &str, body: &str) {
    let mut request = [0; 1 << 14];
    let _ = client.read(&mut request);
    let _ = write!(
        client,
        "HTTP/1.1 {status}\r\ncontent-type: application/x-amz-json-1.0\r\ncontent-length: {}\r\n\
         connection: close\r\n\r\n{body}",
        body.len()
    );
}

fn refused_with(code: &str) -> String {
    let body = format!(r#"{{"__type":"com.amazonaws.dynamodb.v20120810#{code}","message":"No."}}"#);
    refusing("400 Bad Request", body)
}

#[track_caller]
fn assert_says(ended: &Ended, reason: &str) {
    let said = format!("error: {reason}\n");
    assert_eq!(
        (ended.code, ended.out.as_str(), ended.err.as_str()),
        (1, "", said.as_str())
    );
}

#[test]
fn missing_credentials_or_region() {
    for (environment, reason) in [
        (
            &[][..],
            "there are no AWS credentials; set AWS_PROFILE or AWS_ACCESS_KEY_ID, or name a directory with --data, or a DynamoDB API with --endpoint",
        ),
        (
            &[("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "b")],
            "no AWS region is set; set AWS_REGION, or name a directory with --data, or a DynamoDB API with --endpoint",
        ),
    ] {
        assert_says(&elsewhere(&["instance", "list"], environment), reason);
    }
}

/// Profiles that AWS's own tools support and this command does not.
#[test]
fn unsupported_aws_profiles() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config");
    let profiles = "[profile sso]\nsso_session = s\nsso_account_id = 123456789012\nsso_role_name = r\nregion = sa-east-1\n\
                    [sso-session s]\nsso_region = us-east-1\nsso_start_url = https://example.com/start\n\
                    [profile program]\nregion = sa-east-1\ncredential_process = /bin/false\n\
                    [profile role]\nregion = sa-east-1\nrole_arn = arn:aws:iam::123456789012:role/x\nsource_profile = none\n[profile none]\nregion = sa-east-1\n";
    fs::write(&config, profiles).unwrap();
    let elsewhere_signed = "this AWS profile signs in by another program; hand its credentials over with: \
                            eval \"$(aws configure export-credentials --format env)\"";
    let unusable = "the AWS credentials cannot be loaded; check AWS_PROFILE and ~/.aws/config, \
                    or name a directory with --data, or a DynamoDB API with --endpoint";
    for (profile, reason) in [
        ("sso", elsewhere_signed),
        ("program", elsewhere_signed),
        ("role", unusable),
    ] {
        let environment = [
            ("AWS_PROFILE", profile),
            ("AWS_CONFIG_FILE", config.to_str().unwrap()),
        ];
        assert_says(&elsewhere(&["instance", "list"], &environment), reason);
    }
}

#[test]
fn errors_of_dynamodb() {
    for (code, reason) in [
        (
            "AccessDeniedException",
            "AWS does not let you; use credentials that may read and write the table",
        ),
        (
            "ExpiredTokenException",
            "the AWS credentials have expired; sign in again, for example with: aws sso login",
        ),
        (
            "UnrecognizedClientException",
            "AWS does not know these credentials; check AWS_PROFILE or AWS_ACCESS_KEY_ID, and AWS_SESSION_TOKEN",
        ),
        (
            "ProvisionedThroughputExceededException",
            "GetItem gave up because the table is too busy; rerun the command in a minute, and raise the table's limit if it stays so",
        ),
        (
            "ResourceNotFoundException",
            "there is no such table; deploy it first, or name another with --table or --endpoint",
        ),
    ] {
        let endpoint = refused_with(code);
        assert_says(
            &elsewhere(&["--endpoint", &endpoint, "instance", "list"], &[]),
            reason,
        );
    }
}

#[test]
fn a_table_with_another_schema() {
    let text = "The provided key element does not match the schema";
    let body = format!(r#"{{"__type":"com.amazon.coral.validate#ValidationException","message":"{text}"}}"#);
    let endpoint = refusing("400 Bad Request", body);
    assert_says(
        &elsewhere(&["--endpoint", &endpoint, "instance", "list"], &[]),
        "the table is not one of Funil's; name another with --table",
    );
}

#[test]
fn a_missing_table() {
    let unreachable = "DynamoDB cannot be reached; check the network and --endpoint";
    let nowhere = ["--endpoint", "http://127.0.0.1:1", "instance", "list"];
    assert_says(&elsewhere(&nowhere, &[]), unreachable);
    let served = ["--endpoint", "http://127.0.0.1:1", "serve", "--port", "0"];
    assert_says(&elsewhere(&served, &[]), unreachable);
    let website = refusing("404 Not Found", "<html>".to_owned());
    assert_says(
        &elsewhere(&["--endpoint", &website, "instance", "list"], &[]),
        "the endpoint is not a DynamoDB API; check --endpoint",
    );
    let no_url = elsewhere(&["--endpoint", "127.0.0.1:8000", "instance", "list"], &[]);
    assert_eq!(no_url.code, 2);
    assert!(
        no_url
            .err
            .contains("an endpoint is a URL such as http://127.0.0.1:4566"),
        "{no_url:?}"
    );
}

#[test]
fn missing_files() {
    let bench = Bench::with_instance();
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let import = |file: &str| bench.funil(&format!("import --instance acme {file}"));
    let absent = at("absent");
    assert_says(
        &import(&absent),
        &format!("{absent} cannot be read: No such file or directory (os error 2); check its name"),
    );
    let directory = folder.path().display().to_string();
    assert_says(
        &import(&directory),
        &format!("{directory} cannot be read: Is a directory (os error 21); name a file in it"),
    );
    let (export, copy) = ("export --instance acme --output", at("absent/copy"));
    let nowhere = bench.funil(&format!("{export} {copy}"));
    assert_eq!(nowhere.code, 1);
    assert!(
        nowhere
            .err
            .contains(&format!("error: the export cannot be written to {copy}: ")),
        "{nowhere:?}"
    );
    assert!(
        nowhere.err.ends_with("; make its directory first\n"),
        "{nowhere:?}"
    );
}

#[test]
fn invalid_lines() {
    let bench = Bench::with_instance();
    let import = |bytes: &[u8]| {
        let ended = bench.funil_reading("import --instance acme -", bytes);
        (ended.code, ended.out, ended.err)
    };
    let counts = |imported, refused| format!("{imported} imported, 0 unchanged, {refused} refused\n");
    let record = "every line must be one record, such as {\"kind\":\"user\",\"id\":7,\"name\":\"Ana\"}\n";
    assert_eq!(
        import(b"\n \n"),
        (
            0,
            counts(0, 0),
            "it has no lines; is it the right file?\n".to_owned()
        )
    );
    assert_eq!(
        import(b"\xff"),
        (
            1,
            counts(0, 1),
            format!("line 1: not UTF-8 text; save the file as UTF-8\n{record}")
        )
    );
    let long = vec![b' '; (1 << 20) + 1];
    assert_eq!(
        import(&long),
        (
            1,
            counts(0, 1),
            format!("line 1: longer than 1 MB; a record has at most 100 KB\n{record}")
        )
    );
    assert_eq!(
        import(b"[\n{\"kind\":\"user\",\"id\":7,\"name\":\"Ana\"}"),
        (
            1,
            counts(1, 1),
            "line 1: not JSON: EOF while parsing a list at column 1\nmend the refused lines and import the file again\n"
                .to_owned()
        )
    );
}
