// A headless Chromium, driven through its DevTools protocol: JSON messages, each terminated by a zero byte, on two pipes.

import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";

const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--remote-debugging-pipe"];
const PATIENCE = 30_000;
/* Records violations of the page's policy. */
const WATCH = "window.violations = []; addEventListener('securitypolicyviolation', " +
  "({ violatedDirective, blockedURI }) => violations.push(`${violatedDirective} ${blockedURI}`));";
const CODES = { Enter: [13, "\r"], Tab: [9, ""], Escape: [27, ""], Space: [32, " "], ArrowRight: [39, ""], ArrowDown: [40, ""], ArrowLeft: [37, ""],
  ArrowUp: [38, ""], Home: [36, ""], End: [35, ""], KeyM: [77, "m"] };

export class Browser {
  #sent = 0;
  #open = new Map();
  #buffer = "";
  #session;
  #refusal = null;
  faults = [];
  requests = [];

  constructor(name, profile) {
    const stdio = ["ignore", "ignore", "ignore", "pipe", "pipe"];
    // A group of its own, so that `close` reaches every process of the browser.
    this.child = spawn(name, [...FLAGS, `--user-data-dir=${profile}`], { detached: true, stdio });
    this.child.stdio[4].setEncoding("utf8").on("data", text => this.#receive(text));
  }

  #receive(text) {
    const messages = (this.#buffer + text).split("\0");
    this.#buffer = messages.pop();
    for (const message of messages.map(message => JSON.parse(message))) {
      const isFault = ["Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"].includes(message.method);
      // Error responses of the service are no faults of the page.
      if (isFault && message.params.entry?.source !== "network") this.faults.push(JSON.stringify(message.params));
      if (message.method === "Network.requestWillBeSent") this.requests.push(message.params.request);
      if (message.method === "Fetch.requestPaused") this.#refuse(message.params);
      const [done, failed] = this.#open.get(message.id) ?? [];
      this.#open.delete(message.id);
      if (message.error) failed?.(new Error(message.error.message));
      else done?.(message.result);
    }
  }

  command(method, params = {}) {
    const id = ++this.#sent;
    this.child.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId: this.#session })}\0`);
    return new Promise((done, failed) => this.#open.set(id, [done, failed]));
  }

  /* Answers writes of the page with a status and a reason, until it is called without a status. */
  async refuseWrites(status, details) {
    this.#refusal = status ? { status, details } : null;
    await this.command(status ? "Fetch.enable" : "Fetch.disable");
  }

  #refuse({ requestId, request: { method } }) {
    if (!this.#refusal || method === "GET" || method === "POST") return this.command("Fetch.continueRequest", { requestId });
    const { status, details } = this.#refusal;
    const responseHeaders = [["content-type", "application/json"], ["x-error-details", details]].map(([name, value]) => ({ name, value }));
    return this.command("Fetch.fulfillRequest", { requestId, responseCode: status, responseHeaders, body: Buffer.from('{"error":"Invalid request"}').toString("base64") });
  }

  async open(url, { width, height, dark = false, languages = "pt-BR" }) {
    this.width = width;
    this.#session = undefined;
    if (this.target) await this.command("Target.closeTarget", { targetId: this.target });
    const { targetId } = await this.command("Target.createTarget", { url: "about:blank" });
    this.target = targetId;
    this.#session = (await this.command("Target.attachToTarget", { targetId, flatten: true })).sessionId;
    for (const domain of ["Page", "Runtime", "Log", "Network"]) await this.command(`${domain}.enable`);
    await this.command("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: width < 600 });
    await this.command("Emulation.setTouchEmulationEnabled", { enabled: width < 600 });
    await this.command("Emulation.setUserAgentOverride", { userAgent: "test", acceptLanguage: languages });
    await this.scheme(dark);
    await this.command("Page.addScriptToEvaluateOnNewDocument", { source: WATCH });
    await this.command("Page.navigate", { url });
    await this.until("document.readyState === 'complete' && document.querySelector('main')");
  }

  scheme(dark) {
    const features = [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }, { name: "prefers-reduced-motion", value: "reduce" }];
    return this.command("Emulation.setEmulatedMedia", { features });
  }

  async evaluate(expression) {
    const { result, exceptionDetails } = await this.command("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true });
    if (exceptionDetails) throw new Error(`${expression}: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`);
    return result.value;
  }

  async until(condition) {
    for (const began = Date.now(); Date.now() - began < PATIENCE;) {
      if (await this.evaluate(`Boolean(${condition})`).catch(() => false)) return;
      await new Promise(done => setTimeout(done, 30));
    }
    throw new Error(`never: ${condition}\n${await this.evaluate("document.body?.innerText")}`);
  }

  async press(...keys) {
    for (const key of keys) {
      const shift = key.startsWith("Shift+");
      const name = key.replace("Shift+", "");
      const [code, text] = CODES[name];
      const event = { key: { Space: " ", KeyM: "m" }[name] ?? name, code: name, windowsVirtualKeyCode: code, modifiers: shift ? 8 : 0 };
      await this.command("Input.dispatchKeyEvent", { type: "keyDown", text, ...event });
      await this.command("Input.dispatchKeyEvent", { type: "keyUp", ...event });
    }
  }

  /* The middle of an element that is shown. */
  middle(selector) {
    return this.evaluate(`(() => { const { left, top, width, height } = document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect();
      return [left + width / 2, top + height / 2]; })()`);
  }

  mouse(type, [x, y], buttons = 1) {
    return this.command("Input.dispatchMouseEvent", { type, x, y, button: type === "mouseMoved" ? "none" : "left", buttons, clickCount: 1 });
  }

  /* A click by mouse, on a phone by finger. */
  async click(point) {
    if (this.width < 600) {
      await this.touch("touchStart", point);
      return this.touch("touchEnd");
    }
    await this.mouse("mouseMoved", point, 0);
    await this.mouse("mousePressed", point);
    return this.mouse("mouseReleased", point, 0);
  }

  touch(type, point) {
    return this.command("Input.dispatchTouchEvent", { type, touchPoints: point ? [{ x: point[0], y: point[1] }] : [] });
  }

  write(text) {
    return this.command("Input.insertText", { text });
  }

  async screenshot(path, full = false) {
    const { data } = await this.command("Page.captureScreenshot", { captureBeyondViewport: full });
    writeFileSync(path, Buffer.from(data, "base64"));
  }

  /* A process of the browser that stays would keep the pipes open, and Node would not end. */
  async close() {
    const ended = new Promise(done => this.child.once("exit", done));
    const patience = new Promise(done => setTimeout(done, 5000));
    await Promise.race([this.command("Browser.close").then(() => ended, () => {}), patience]);
    try {
      process.kill(-this.child.pid, "SIGKILL");
    } catch {
      // All have ended.
    }
    for (const pipe of this.child.stdio) pipe?.destroy();
  }
}
