// A headless Chromium, driven through its DevTools protocol: JSON messages, each terminated by a zero byte, on two pipes.

import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";

const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--remote-debugging-pipe"];
const PATIENCE = 30_000;
/* Records violations of the page's policy. */
const WATCH = "window.violations = []; addEventListener('securitypolicyviolation', " +
  "({ violatedDirective, blockedURI }) => violations.push(`${violatedDirective} ${blockedURI}`));";
const CODES = { Enter: [13, "\r"], Tab: [9, ""], Escape: [27, ""], Space: [32, " "], ArrowRight: [39, ""], ArrowDown: [40, ""] };

export class Browser {
  #sent = 0;
  #open = new Map();
  #buffer = "";
  #session;
  faults = [];
  requests = [];

  constructor(name, profile) {
    const stdio = ["ignore", "ignore", "ignore", "pipe", "pipe"];
    this.child = spawn(name, [...FLAGS, `--user-data-dir=${profile}`], { stdio });
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

  async open(url, { width, height, dark = false, languages = "pt-BR" }) {
    this.width = width;
    this.#session = undefined;
    const { targetId } = await this.command("Target.createTarget", { url: "about:blank" });
    this.#session = (await this.command("Target.attachToTarget", { targetId, flatten: true })).sessionId;
    for (const domain of ["Page", "Runtime", "Log", "Network"]) await this.command(`${domain}.enable`);
    await this.command("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: width < 600 });
    await this.command("Emulation.setUserAgentOverride", { userAgent: "test", acceptLanguage: languages });
    await this.scheme(dark);
    await this.command("Page.addScriptToEvaluateOnNewDocument", { source: WATCH });
    await this.command("Page.navigate", { url });
    await this.until("document.readyState === 'complete' && document.getElementById('enter')");
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
      const event = { key: name === "Space" ? " " : name, code: name, windowsVirtualKeyCode: code, modifiers: shift ? 8 : 0 };
      await this.command("Input.dispatchKeyEvent", { type: "keyDown", text, ...event });
      await this.command("Input.dispatchKeyEvent", { type: "keyUp", ...event });
    }
  }

  write(text) {
    return this.command("Input.insertText", { text });
  }

  async screenshot(path, full = false) {
    const { data } = await this.command("Page.captureScreenshot", { captureBeyondViewport: full });
    writeFileSync(path, Buffer.from(data, "base64"));
  }

  async close() {
    const ended = new Promise(done => this.child.once("exit", done));
    const patience = new Promise(done => setTimeout(done, 5000));
    await Promise.race([this.command("Browser.close").then(() => ended, () => {}), patience]);
    this.child.kill();
  }
}
