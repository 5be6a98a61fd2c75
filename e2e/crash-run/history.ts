/**
 * The history of a run: every operation of its clients with its start, its end and its result, for checkers of
 * linearizability. docs/crash-run.md describes the file format.
 */
import { appendFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';

const Base = z.object({
  process: z.string(),
  /** in milliseconds since the start of the run */
  start: z.number(),
  /** null if the result is unknown: it may take effect at any time after `start`, or never */
  end: z.number().nullable(),
  /** as in Jepsen: done, refused without an effect, unknown */
  type: z.enum(['ok', 'fail', 'info']),
  /** why it was refused, or why the result is unknown */
  error: z.string().optional(),
});

const operation = <Name extends string, Arguments extends z.ZodType, Result extends z.ZodType>(
  name: Name,
  given: Arguments,
  result: Result,
) => Base.extend({ operation: z.literal(name), arguments: given, result: result.optional() });

const Credential = z.object({ credential: z.string() });
const None = z.object({});

export const Operation = z.discriminatedUnion('operation', [
  /** A message to a session, perhaps with an idempotency key. The text is unique in its session. */
  operation(
    'input',
    z.object({ session: z.string(), text: z.string(), key: z.string().optional() }),
    z.object({ seq: z.number().optional(), event: z.string().optional() }),
  ),
  /** All inputs of a session in order, the answers to its approvals, and the tokens that its steps have used. */
  operation(
    'read',
    z.object({ session: z.string() }),
    z.object({
      inputs: z.array(z.string()),
      answers: z.array(z.tuple([z.string(), z.string()])),
      tokens: z.number().optional(),
    }),
  ),
  operation(
    'approve',
    z.object({ session: z.string(), approval: z.string(), answer: z.string() }),
    z.object({ seq: z.number() }),
  ),
  /** The tokens that are counted for all sessions: what spend limits are compared with. */
  operation('usage', None, z.object({ tokens: z.number() })),
  operation('credential.issue', z.object({ kind: z.enum(['key', 'token']) }), Credential),
  operation('credential.use', Credential, None),
  operation('credential.revoke', Credential, None),
  /** The driver and the fencing epoch of each session, as the database has them. */
  operation(
    'leases',
    None,
    z.object({ held: z.array(z.tuple([z.string(), z.number(), z.string().nullable()])) }),
  ),
]);
export type Operation = z.infer<typeof Operation>;

/** The first line. */
const Header = z.object({
  history: z.literal(1),
  seed: z.number(),
  nodes: z.number(),
});
export type Header = z.infer<typeof Header>;

type Name = Operation['operation'];
type Of<Operation_ extends Name> = Extract<Operation, { operation: Operation_ }>;
type Invocation<Operation_ extends Name> = Pick<Of<Operation_>, 'process' | 'operation' | 'arguments'>;
/** What became of an operation whose request was answered. */
type Completion<Operation_ extends Name> =
  | { readonly ok: NonNullable<Of<Operation_>['result']> }
  | { readonly refused: string }
  | { readonly unknown: string };

export class History {
  readonly operations: Operation[] = [];
  readonly #began = performance.now();

  /** Without `path`, the history is only kept in memory. */
  constructor(
    readonly header: Header,
    private readonly path?: string,
  ) {
    if (path !== undefined) writeFileSync(path, `${JSON.stringify(header)}\n`);
  }

  /**
   * Runs the operation and records it. Its result is unknown if `work` rejects.
   *
   * @example
   * const { status } = await history.run(
   *   { process: 'probe', operation: 'credential.use', arguments: { credential } },
   *   () => fetch(url, { headers }),
   *   ({ ok, status }) => (ok ? { ok: {} } : { refused: String(status) }),
   * );
   */
  async run<Operation_ extends Name, Answer>(
    invocation: Invocation<Operation_>,
    work: () => Promise<Answer>,
    completed: (answer: Answer) => Completion<Operation_>,
  ): Promise<Answer> {
    const start = this.#now();
    let completion: Completion<Operation_> = { unknown: 'no answer' };
    try {
      const answer = await work();
      completion = completed(answer);
      return answer;
    } catch (thrown) {
      completion = { unknown: thrown instanceof Error ? thrown.message : String(thrown) };
      throw thrown;
    } finally {
      const end = 'unknown' in completion ? null : this.#now();
      this.#add({ ...invocation, start, end, ...fieldsOf(completion) });
    }
  }

  #now(): number {
    return Math.round((performance.now() - this.#began) * 1_000) / 1_000;
  }

  #add(line: object): void {
    this.operations.push(Operation.parse(line));
    if (this.path !== undefined) appendFileSync(this.path, `${JSON.stringify(line)}\n`);
  }
}

function fieldsOf(completion: Completion<Name>): Pick<Operation, 'type' | 'error' | 'result'> {
  if ('ok' in completion) return { type: 'ok', result: completion.ok };
  if ('refused' in completion) return { type: 'fail', error: completion.refused };
  return { type: 'info', error: completion.unknown };
}

/** The completion of an operation over HTTP. A server that fails cannot tell whether it had an effect. */
export const completedBy =
  <Ok extends object>(ok: (body: Record<string, unknown>) => Ok) =>
  ({
    status,
    body,
  }: {
    readonly status: number;
    readonly body: Record<string, unknown>;
  }): { ok: Ok } | { refused: string } | { unknown: string } => {
    if (status < 300) return { ok: ok(body) };
    return status < 500 ? { refused: String(status) } : { unknown: String(status) };
  };

/** Throws if a line is not of the format. */
export function parseHistory(text: string): { readonly header: Header; readonly operations: Operation[] } {
  const [first = '', ...lines] = text.split('\n').filter(Boolean);
  return {
    header: Header.parse(JSON.parse(first)),
    operations: lines.map((line) => Operation.parse(JSON.parse(line))),
  };
}
