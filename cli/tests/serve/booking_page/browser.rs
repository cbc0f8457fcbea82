//! A headless Chromium, driven through its `DevTools` protocol: JSON messages, each terminated by a zero byte,
//! on two pipes.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
const FLAGS: [&str; 10] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
];
/// The browser reads from descriptor 3 and writes to descriptor 4, which are connected to these two pipes.
const ON_PIPES: &str = r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1"#;
/// Timeout of a response, long enough if all other tests run concurrently.
const TIMEOUT: Duration = Duration::from_mins(1);
/// Records violations of the page's policy.
const WATCH: &str = "window.violations = []; addEventListener('securitypolicyviolation', \
                     event => violations.push(`${event.violatedDirective} ${event.blockedURI}`));";

/// A browser with one page at a time, killed on drop.
pub struct Browser {
    child: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    sent: u64,
    session: Option<String>,
    events: Vec<Value>,
    _profile: TempDir,
}

/// A visitor's languages, as in the header, and time zone; without one, that of a system whose zone is unknown.
#[derive(Clone, Copy)]
pub struct Visitor {
    pub languages: &'static str,
    pub zone: &'static str,
}

impl Browser {
    /// Starts an installed browser. Without one, prints advice and returns `None`.
    #[expect(
        clippy::print_stderr,
        reason = "who runs a test that is skipped must learn why"
    )]
    pub fn start() -> Option<Self> {
        let Some(name) = NAMES.into_iter().find(|name| cfg!(unix) && is_there(name)) else {
            eprintln!(
                "skipped: there is no browser here to open the page with; on a Unix machine install Chromium as one of \
                 {}",
                NAMES.join(", ")
            );
            return None;
        };
        let profile = tempfile::tempdir().unwrap();
        let mut child = Command::new("sh")
            .args(["-c", ON_PIPES, name])
            .args(FLAGS)
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .env("TZ", "Foo/Bar")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (send, messages) = mpsc::channel();
        std::thread::spawn(move || {
            for message in output.split(0).map_while(Result::ok) {
                let Ok(message) = serde_json::from_slice(&message) else {
                    return;
                };
                if send.send(message).is_err() {
                    return;
                }
            }
        });
        Some(Self {
            input: child.stdin.take().unwrap(),
            child,
            messages,
            sent: 0,
            session: None,
            events: Vec::new(),
            _profile: profile,
        })
    }

    /// Opens a page with the size of a phone and waits for a condition, a JavaScript expression.
    pub fn open(&mut self, visitor: Visitor, url: &str, condition: &str) {
        self.session = None;
        let target = self.command("Target.createTarget", &json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let session = self.command("Target.attachToTarget", &attach);
        self.session = session["sessionId"].as_str().map(str::to_owned);
        let phone = json!({ "width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": true });
        let still = json!({ "features": [{ "name": "prefers-reduced-motion", "value": "reduce" }] });
        let languages = json!({ "userAgent": "test", "acceptLanguage": visitor.languages });
        for (method, parameters) in [
            ("Page.enable", json!({})),
            ("Runtime.enable", json!({})),
            ("Log.enable", json!({})),
            ("Emulation.setDeviceMetricsOverride", phone),
            ("Emulation.setEmulatedMedia", still),
            ("Emulation.setUserAgentOverride", languages),
            (
                "Emulation.setTimezoneOverride",
                json!({ "timezoneId": visitor.zone }),
            ),
            (
                "Page.addScriptToEvaluateOnNewDocument",
                json!({ "source": WATCH }),
            ),
            ("Page.navigate", json!({ "url": url })),
        ] {
            self.command(method, &parameters);
        }
        self.until(condition);
    }

    /// Loads the page again and waits for a condition.
    #[track_caller]
    pub fn reload(&mut self, condition: &str) {
        self.evaluate("window.stale = true");
        self.command("Page.reload", &json!({}));
        self.until(&format!("!window.stale && {condition}"));
    }

    /// Waits for a condition, across navigations.
    #[track_caller]
    pub fn until(&mut self, condition: &str) {
        let look = format!(
            "new Promise(done => {{
                const began = Date.now();
                const look = () => {{
                    let met = false;
                    try {{ met = Boolean({condition}); }} catch {{ /* not the page yet */ }}
                    if (met) done(null);
                    else if (Date.now() - began > 40000) done(document.body?.innerText ?? 'nothing');
                    else setTimeout(look, 10);
                }};
                look();
            }})"
        );
        // A navigation cancels pending evaluations.
        let ended = (0..50).find_map(|_| self.try_evaluate(&look).ok());
        assert_eq!(ended, Some(Value::Null), "{condition}");
    }

    /// The value of an expression, after awaiting promises.
    #[track_caller]
    pub fn evaluate(&mut self, expression: &str) -> Value {
        self.try_evaluate(expression).expect(expression)
    }

    /// The text of an element.
    #[track_caller]
    pub fn text(&mut self, id: &str) -> String {
        let text = self.evaluate(&format!("document.getElementById('{id}').textContent"));
        text.as_str().unwrap().to_owned()
    }

    /// Clicks an element this number of times.
    #[track_caller]
    pub fn click(&mut self, selector: &str, times: u64) {
        let place = format!(
            "(() => {{ const element = document.querySelector(`{selector}`); \
             element.scrollIntoView({{ block: 'center' }}); const box = element.getBoundingClientRect(); \
             return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
        );
        let place = self.evaluate(&place);
        for count in 1..=times {
            for kind in ["mousePressed", "mouseReleased"] {
                let press = json!({ "type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": count });
                self.command("Input.dispatchMouseEvent", &press);
            }
        }
    }

    /// Presses keys in sequence, each by its name.
    pub fn press(&mut self, keys: &[&str]) {
        for key in keys {
            let (code, text) = match *key {
                "Enter" => (13, "\r"),
                "Tab" => (9, ""),
                "Escape" => (27, ""),
                _ => (39, ""),
            };
            for kind in ["keyDown", "keyUp"] {
                let text = if kind == "keyDown" { text } else { "" };
                let press = json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "text": text });
                self.command("Input.dispatchKeyEvent", &press);
            }
        }
    }

    /// Types into the focused element.
    pub fn write(&mut self, text: &str) {
        self.command("Input.insertText", &json!({ "text": text }));
    }

    /// Waits for an event and removes it.
    pub fn event(&mut self, method: &str) -> Value {
        loop {
            if let Some(at) = self.events.iter().position(|event| event["method"] == method) {
                return self.events.remove(at)["params"].take();
            }
            let event = self.receive();
            self.events.push(event);
        }
    }

    /// Answers the next paused request, and returns it.
    pub fn answer(&mut self, status: u16, body: &Value) -> Value {
        let mut held = self.event("Fetch.requestPaused");
        let body = self.evaluate(&format!("btoa({})", Value::from(body.to_string())));
        let headers = [("content-type", "application/json"), ("retry-after", "17")];
        let headers = headers.map(|(name, value)| json!({ "name": name, "value": value }));
        let answer = json!({ "requestId": held["requestId"], "responseCode": status, "responseHeaders": headers,
            "body": body });
        self.command("Fetch.fulfillRequest", &answer);
        held["request"].take()
    }

    /// Errors of the pages so far: exceptions, console output, and violations of the policy. Error responses of the
    /// service are not included.
    pub fn faults(&mut self) -> Vec<Value> {
        let refused = self.evaluate("window.violations");
        let faults = [
            "Runtime.exceptionThrown",
            "Runtime.consoleAPICalled",
            "Log.entryAdded",
        ];
        let events = self
            .events
            .iter()
            .filter(|event| faults.iter().any(|fault| event["method"] == *fault))
            .filter(|event| event["params"]["entry"]["source"] != "network");
        let refused = refused.as_array().unwrap().iter();
        events.chain(refused).cloned().collect()
    }

    /// The browser's result of a command.
    #[track_caller]
    pub fn command(&mut self, method: &str, parameters: &Value) -> Value {
        self.try_command(method, parameters).expect(method)
    }

    fn try_evaluate(&mut self, expression: &str) -> Result<Value, Value> {
        let evaluate = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let mut answer = self.try_command("Runtime.evaluate", &evaluate)?;
        match answer.get_mut("exceptionDetails") {
            Some(thrown) => Err(thrown.take()),
            None => Ok(answer["result"]["value"].take()),
        }
    }

    fn try_command(&mut self, method: &str, parameters: &Value) -> Result<Value, Value> {
        self.sent += 1;
        let mut message = json!({ "id": self.sent, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        write!(self.input, "{message}\0").unwrap();
        loop {
            let mut message = self.receive();
            if message["id"] != self.sent {
                self.events.push(message);
            } else if message["error"].is_null() {
                return Ok(message["result"].take());
            } else {
                return Err(message["error"].take());
            }
        }
    }

    fn receive(&self) -> Value {
        self.messages.recv_timeout(TIMEOUT).expect("the browser answers")
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn is_there(name: &str) -> bool {
    let mut version = Command::new(name);
    version
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    version.status().is_ok_and(|status| status.success())
}
