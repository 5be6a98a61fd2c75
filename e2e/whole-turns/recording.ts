/** A client that records what is sent and received. Ids and times differ from run to run: they are numbered, or left out. */
import { toLines } from '../../packages/server/src/testing/transcripts.ts';

export class Recording {
  readonly #lines: unknown[] = [];
  readonly #ids = new Map<string, string>();

  constructor(private readonly http: string) {}

  /** Sends a request, and resolves with its answer: one value, or the events of a stream. */
  async send(path: string, body: object): Promise<Record<string, unknown>[]> {
    this.#lines.push({ request: path, body });
    return this.#record(
      await fetch(this.http + path, { method: 'POST', headers: HEADERS, body: text(body) }),
    );
  }

  async get(path: string): Promise<Record<string, unknown>[]> {
    this.#lines.push({ request: path });
    return this.#record(await fetch(this.http + path));
  }

  /** One request, event or answer per line. */
  toString(): string {
    return toLines(
      this.#lines.map((line) => JSON.parse(text(line), (key, value) => this.#steady(key, value))),
    );
  }

  async #record(response: Response): Promise<Record<string, unknown>[]> {
    const received = await response.text();
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
    const values = isStream ? eventsIn(received) : [JSON.parse(received)];
    if (!response.ok) this.#lines.push({ status: response.status });
    this.#lines.push(...values);
    return values;
  }

  #steady(key: string, value: unknown): unknown {
    if (/^(?:created|created_at|completed_at)$/.test(key)) return value === null ? null : 0;
    if (typeof value !== 'string') return value;
    return this.#withNames(value);
  }

  #withNames(value: string): string {
    return value.replace(ID, (id, prefix: string | undefined) => {
      const known = this.#ids.get(id);
      if (known !== undefined) return known;
      const name = `${prefix ?? ''}<${this.#ids.size + 1}>`;
      this.#ids.set(id, name);
      return name;
    });
  }
}

const HEADERS = { 'content-type': 'application/json' };
const text = (value: unknown): string => JSON.stringify(value);

const UUID = '[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}';
/** Of responses, items, messages, calls and approvals: a kind, and what tells one from another. */
const ID = new RegExp(
  `(?:((?:resp|msg|rs|fc|fco|mcp|mcpa|call|chatcmpl|req)[_-])[\\w-]*${UUID}[\\w-]*|${UUID})`,
  'g',
);

/** With the names of events, where they have them. */
function eventsIn(received: string): Record<string, unknown>[] {
  return received
    .split('\n\n')
    .filter((event) => event !== '' && !event.startsWith(':'))
    .map((event) => {
      const [, name, data = ''] = /^(?:event: (.*)\n)?data: (.*)$/s.exec(event) ?? [];
      const value = data === '[DONE]' ? { done: true } : JSON.parse(data);
      return name === undefined || name === value.type ? value : { event: name, ...value };
    });
}
