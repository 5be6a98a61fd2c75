/**
 * Planted defects: each replaces one fragment of a source while the simulation loads it, so the product has no hooks. A mutant
 * that no seed finds is a hole in the oracles.
 */
import { join } from 'node:path';
import { plugin } from 'bun';
import type { About } from './plan.ts';

const SERVER = join(import.meta.dir, '../packages/server/src');

type Mutant = {
  readonly file: string;
  readonly find: string;
  readonly put: string;
  /** a defect that the project really had */
  readonly real?: true;
  /** looked for in these worlds only */
  readonly about?: About;
};

const mutant = (file: string, find: string, put: string, about?: About): Mutant => ({
  file,
  find,
  put,
  ...(about && { about }),
});
const past: typeof mutant = (...given) => ({ ...mutant(...given), real: true });

const SESSION = 'core/engine/session.ts';
const TOOLS = 'core/engine/tool-calls.ts';
const PLAN = 'core/engine/call-plan.ts';
const DECIDE = 'core/session/decide.ts';
const SUB_AGENTS = 'core/session/sub-agents.ts';
const TURN_EVENTS = 'core/session/turn-events.ts';
const QUEUE = 'core/engine/run-queue.ts';
const LINK = 'cluster/remote-link.ts';
const TRANSPORT = 'cluster/pub-sub-transport.ts';
const NETWORK = 'cluster/remote-network.ts';
const STREAMS = 'dialects/native/streams.ts';

const MUTANTS: Readonly<Record<string, Mutant>> = {
  // Storing.
  'acknowledges before the write is durable': mutant(
    SESSION,
    'return { change, driver: await log.append(change.before.seq, change.events, change.record, as) };',
    'log.append(change.before.seq, change.events, change.record, as).catch(() => undefined);\n      return { change, driver: { node: this.sources.leases.node, epoch: this.role.epoch } };',
  ),
  'a driver appends without its epoch': mutant(
    'core/engine/session-link.ts',
    "return authority === 'driver' ? { by: 'driver', epoch: this.epoch } : { by: 'command', take: authority };",
    "return { by: 'command', take: authority === 'driver' ? 'never' : authority };",
  ),
  'a conflict is an error': mutant(
    SESSION,
    'if (!(await this.#moved()) && !(await this.#isOther())) throw written;',
    'throw written;',
  ),
  'a conflict with a shorter log is an error': past(
    SESSION,
    'if (!(await this.#moved()) && !(await this.#isOther())) throw written;',
    'if (!(await this.#catchUp())) throw written;',
  ),
  'a driver does not notice that another node has taken its turn': past(
    SESSION,
    'if (this.role.holdsLease && events.some(mayMoveLease)) await this.#checkLease();',
    '',
  ),
  'only the last event is compared after a failover': past(
    SESSION,
    'for await (const event of this.events(this.#trail.after))\n      if (event.seq <= this.state.seq) digest = withEvent(digest, event);\n    if (digest === this.#trail.digest) return false;',
    'for await (const event of this.events(Math.max(0, this.state.seq - 1))) digest = withEvent(digest, event);\n    if (digest === 0n || this.state.seq === (await this.sources.store.head(this.ref))) return false;',
    'failovers',
  ),
  'a session opens without its last event': mutant(
    SESSION,
    'if (event.seq > upTo) break;',
    'if (event.seq >= upTo || (event.seq === record.head && event.seq > 5)) break;',
  ),
  'a second object for a session in use': mutant(
    'core/engine/session-cache.ts',
    'pins > 0 || !session?.idle;',
    'pins > 99 && !session?.idle;',
  ),

  // Turns.
  'a failed turn is not tried again': mutant(
    QUEUE,
    'clock.setTimeout(() => this.wake(session), retryDelayMs(failures, session)),',
    'clock.setTimeout(() => undefined, retryDelayMs(failures, session)),',
  ),
  'a session is driven twice at once': mutant(
    QUEUE,
    'if (session.driving && retrying === undefined) return;',
    '',
  ),
  'a waiting session is not started': mutant(
    QUEUE,
    'const next = this.#waiting.shift();\n        if (next) this.#start(next);',
    '',
  ),
  'the limit of queued inputs is off by one': mutant(
    DECIDE,
    'state.queue.length >= context.maxQueued',
    'state.queue.length > context.maxQueued',
  ),
  'the last input is answered first': mutant(
    'core/engine/turn.ts',
    'await session.transact(({ turn, queue: [next], agent }) =>',
    'await session.transact(({ turn, queue, agent, next = queue.at(-1) }: SessionState & { next?: SessionState["queue"][0] }) =>',
  ),
  'an idempotency key is ignored': mutant(
    DECIDE,
    'if (key !== undefined && state.keys.some((known) => known.key === key)) return [];',
    '',
  ),
  'the limit of steps is ignored': mutant(
    'core/engine/turn.ts',
    'if (turn.steps >= deps.maxSteps) {',
    'if (turn.steps >= 99) {',
  ),
  'a cancelled turn loses what was streamed': mutant(
    TURN_EVENTS,
    "if (!open || open.text === '') return [];",
    'if (Boolean(open) || !open) return [];',
  ),
  'half a block is stored as complete': mutant(
    'core/engine/open-output.ts',
    'const text = String(open.text);\n  if (open.kind',
    'const text = String(open.text).slice(0, 4);\n  if (open.kind',
  ),
  'a retried step keeps the output of the first attempt': mutant(
    'core/engine/open-output.ts',
    "    case 'step.restarted':\n    case 'turn.resumed':\n    case 'turn.ended':\n    case 'turn.failed':\n    case 'turn.cancelled':\n      return event.turn === open.turn;",
    "    case 'turn.ended':\n    case 'turn.failed':\n    case 'turn.cancelled':\n      return event.turn === open.turn;",
  ),
  'the model is asked without the last message': mutant(
    'core/engine/model-step.ts',
    'items: trim(entries.map(({ item }) => item)),\n    tools,',
    "items: trim(entries.map(({ item }) => item).filter((item, index, all) => item.kind !== 'user' || all.findLastIndex((one) => one.kind === 'user') !== index)),\n    tools,",
  ),

  // Chains of models.
  'another model answers after a refusal': mutant(
    'core/session/fallback.ts',
    "code === 'provider_limited' || code === 'provider_unavailable'",
    "code === 'provider_limited' || code === 'provider_unavailable' || code === 'provider_rejected'",
  ),
  'a model that cools down is asked': mutant(
    'core/engine/cool-downs.ts',
    'return found.until > now ? found.until : undefined;',
    'return undefined;',
  ),
  'readers are not told that another model answers': mutant(
    'core/engine/turn.ts',
    'if (model === first || isKnown) return model;',
    'if (model === first || isKnown || model) return model;',
  ),

  // Calls.
  'a call runs before its start is stored': mutant(
    TOOLS,
    '[...events, ...start.map((started) => toolStarted(active, started))]);\n  return {',
    'events);\n  return {',
  ),
  'an interrupted call runs again': mutant(
    PLAN,
    'if (tool?.repeatable && tool.definition === call.definition && parsed?.success) {',
    'if (tool && parsed?.success) {',
  ),
  'a call runs without its approval': mutant(
    PLAN,
    'switch (applyPolicy(input)) {',
    "switch (applyPolicy(input) === 'ask' ? 'run' : 'run') {",
  ),
  'a failed call is reported as done': mutant(
    TOOLS,
    'return { parts: [textPart(toolFault(active, call, thrown).message)], failed: true };',
    'return { parts: [textPart(toolFault(active, call, thrown).message)] };',
  ),
  'an unknown outcome is reported as done': mutant(TURN_EVENTS, "  outcome: 'unknown',", "  outcome: 'ok',"),
  'an approval is answered twice': mutant(
    'core/session/evolve.ts',
    "        phase: event.child ? 'delegated' : 'allowed',",
    "        ...(call as object),\n        phase: 'waiting',",
  ),

  'a question is still open after its answer': mutant(
    DECIDE,
    '  if (!call || !isResult || resume !== undefined) return [answered];',
    '  if (call !== null) return [answered];',
  ),

  // Readers.
  'a late reader gets no open block': mutant(
    'core/engine/snapshot.ts',
    'open: open ? { kind: open.kind, turn: open.turn, block: open.block, text: String(open.text) } : null,',
    'open: null,',
  ),
  'a reader that catches up misses an event': mutant(
    STREAMS,
    'const page = await engine.events(ref, this.seq, Math.min(PAGE, head - this.seq));',
    'const page = await engine.events(ref, this.seq + 1, Math.min(PAGE, head - this.seq));',
  ),
  'a slow reader resumes one event too late': mutant(
    STREAMS,
    'if (missed && isDurable(missed)) this.seq = missed.seq - 1;',
    'if (missed && isDurable(missed)) this.seq = missed.seq;',
  ),
  'an event is delivered twice': mutant(
    'core/engine/bus.ts',
    'sink(event, session);',
    "sink(event, session);\n                if (event.type === 'text.delta') sink(event, session);",
  ),
  'a projection misses events before it is ready': mutant(
    'dialects/kit/subscription-hub.ts',
    'if (cursor && cursor.seq < seq) {',
    'if (cursor && cursor.seq < seq - 1) {',
  ),

  // Sub-agents.
  'a sub-agent is created anew when its call runs again': mutant(
    'core/engine/sub-agents.ts',
    'const ref: SessionRef = { owner: session.ref.owner, id: child.session };\n    const reportTo',
    'const ref: SessionRef = { owner: session.ref.owner, id: internals().deps.newId() as SessionId };\n    const reportTo',
  ),
  'the answer of a sub-agent is reported again': mutant(
    SUB_AGENTS,
    'known.last !== undefined && known.last === report.ended?.turn ? null : report.ended',
    'report.ended',
    'sub-agents',
  ),
  'the outcome of a sub-agent is not told': mutant(
    'core/engine/sub-agents.ts',
    'ended = oldest ? {',
    'ended = oldest && Number.isNaN(0) ? {',
  ),
  'what a sub-agent asks is not shown': mutant(
    SUB_AGENTS,
    'else if (turn && call && pending && !(shown && isOpen))',
    'else if (turn && call && pending && !(shown && isOpen) && Number.isNaN(0))',
  ),
  'a cancel does not reach sub-agents': mutant(
    'core/session/evolve.ts',
    "(child) => child.turn === event.turn && child.state === 'working',",
    '() => false,',
    'sub-agents',
  ),
  'two calls of a step wait for one sub-agent': past(
    SUB_AGENTS,
    ' || others.some(({ session }) => session === child.session)',
    '',
    'sub-agents',
  ),
  'a failed sub-agent is reported as done': mutant(
    SUB_AGENTS,
    "outcome: ended.outcome === 'ok' ? 'ok' : 'failed',",
    "outcome: 'ok',",
  ),
  'a report of a sub-agent is compared with an old state': past(
    'core/engine/sub-agents.ts',
    '      await session.fresh();\n      await session.transact(await decideOn',
    '      await session.transact(await decideOn',
    'sub-agents',
  ),
  'a later report of a sub-agent is overtaken': past(
    'core/engine/sub-agents.ts',
    'pendingId(session.state) === waits ? decideReport(now, report, context) : []',
    'decideReport(now, report, context)',
    'sub-agents',
  ),
  'a turn that waits for a sub-agent leaves it behind': past(
    'core/session/evolve.ts',
    "if (child.does === 'wait' && event.outcome !== 'aborted') return state;",
    "if (child.does === 'wait') return state;",
  ),

  // Limits on tokens.
  'a limit is not looked at before a step': mutant(
    'core/engine/spending.ts',
    'throw exhausted(limit, now);',
    'void exhausted(limit, now);',
  ),
  'a step is not counted': mutant(
    'core/session/spending.ts',
    'if (!event.counted && event.usage',
    'if (event.usage.inputTokens > 0 || event.usage',
  ),
  'the limit of a session asks nothing': mutant(
    'core/session/spending.ts',
    'if (!reached || !limit) return null;',
    'if (reached || !reached || !limit) return null;',
  ),
  'a limit is announced by every step': mutant(
    'core/engine/spending.ts',
    'if (session.state.announced.includes(name)) continue;',
    '',
  ),

  // Rewinds.
  'a call runs before its checkpoint is stored': mutant(
    TOOLS,
    'const settle = await deps.checkpoints',
    'const settle = await (undefined as typeof deps.checkpoints)',
  ),
  'a turn starts while files are restored': mutant(
    'core/session/next-action.ts',
    "if (rewinding) return { kind: 'restoreFiles', rewind: rewinding };",
    "if (rewinding && !state.queue.length) return { kind: 'restoreFiles', rewind: rewinding };",
  ),
  'the outcome of a rewind is recorded again': mutant(
    'core/engine/rewind.ts',
    '({ rewinding }) => (rewinding?.rewind === rewind ? [rewound] : [])',
    '({ rewinding }) => (rewinding?.rewind === rewind || rewind ? [rewound] : [])',
    'rewinds',
  ),
  'files are queued for without a limit': past(
    DECIDE,
    '(state.turn || state.rewinding) && state.queue.length',
    'state.turn && state.queue.length',
    'rewinds',
  ),

  // Instructions of a project.
  'instructions are used without an answer': mutant(
    'core/engine/project.ts',
    "const isAccepted = last.outcome === 'answered' && last.answers?.[ITEM]?.[0] === USE;",
    "const isAccepted = last.outcome === 'answered';",
  ),
  'what is used is not recorded': mutant(
    'core/engine/project.ts',
    'if (!isSame(before, files))',
    'if (!isSame(before, files) && before.length === 0)',
  ),
  'a person is asked again after the answer': mutant(
    'core/engine/project.ts',
    'if (answered) await project.decide',
    "if (answered && answered.use === 'used') await project.decide",
  ),

  // Several nodes.
  'sessions of a dead node are not taken over': mutant(
    'core/engine/engine.ts',
    'const room = queue.room;\n    if (room === 0) return;',
    'const room = queue.room;\n    if (room >= 0) return;',
  ),
  'a session that was taken over is not woken': mutant(
    'core/engine/engine.ts',
    'await session.takeOver(lease);\n        queue.wake(session);',
    'await session.takeOver(lease);',
  ),
  'a node does not tell what it watches': mutant(
    LINK,
    'const end = this.parts.transport.registry.add(watchKey(this.session.ref));',
    'const end = () => undefined;',
  ),
  'text of another node is joined with a gap': mutant(
    LINK,
    'if (offset > shown) return this.#rejoin();\n    if (offset + delta',
    'if (offset + delta',
  ),
  'text of another node is shown twice': mutant(
    LINK,
    'if (offset + delta.text.length > shown) session.show(delta, delta.text.slice(shown - offset));',
    'session.show(delta, delta.text);',
  ),
  'the missing rest of a text is not shown': mutant(
    SESSION,
    'if (missing) this.show(missing);',
    'void missing;',
  ),
  'the answer of a browser at another node is lost': mutant(
    'cluster/remote-clients.ts',
    "if ('result' in answer) call.resolve(answer.result);",
    "if ('result' in answer) return null;",
  ),
  'a node does not fence itself': mutant(
    'stores/postgres/heartbeat.ts',
    'const healthy = () => now() - sentAt < times.fenceMs && !tooOld();',
    'const healthy = () => !tooOld();',
  ),
  'a request never times out': mutant(
    TRANSPORT,
    'const timer = this.clock.setTimeout(() => this.#end(id)?.reject(late), timeoutMs);',
    'const timer = this.clock.setTimeout(() => void late, timeoutMs);',
  ),
  'nothing is compared while the bus is down': mutant(NETWORK, 'if (!transport.up) this.#compare();', ''),
  'failed reads are not repeated': mutant(
    NETWORK,
    '      if (!transport.up) this.#compare();\n      this.#readAgain();',
    '      if (!transport.up) this.#compare();',
  ),
  'a node that is gone is not noticed': mutant(NETWORK, 'if (isGone) this.#joinAll();', ''),
  'a lease whose answer was lost is never found': mutant(
    'stores/postgres/held-leases.ts',
    'return !query.changed.has(key) && !this.#held.has(key);',
    'return false;',
  ),
  'an interrupted step is not recorded as such': mutant(
    SESSION,
    "      this.interrupted = { type: 'turn.resumed', turn: turn.id };",
    '      this.interrupted = null;',
  ),
  'text of an attempt that was too long stays': past(
    'core/engine/turn.ts',
    '  // Readers must discard what the first attempt has shown.\n  if (await hasShown(active))',
    '  if (fault.code !== "context_too_long" && (await hasShown(active)))',
  ),
  'watchers are not told what was stored without the bus': past(
    NETWORK,
    'this.#links.get(session)?.tell();',
    'void session;',
  ),
  'watchers are not told what was stored by a failed append': past(
    SESSION,
    'if (this.#isUncertain) this.link?.tell();',
    '',
  ),
  'an append follows an event that a failover has replaced': past(
    SESSION,
    'this.sources.shared && this.#lastId !== undefined ?',
    'this.sources.shared && this.#lastId === "" ?',
    'failovers',
  ),
  'events that follow a replaced one are believed': past(
    SESSION,
    'after !== undefined && this.#contradicts(',
    'after === "" && this.#contradicts(',
    'failovers',
  ),
  'only the number of the last event is compared': past(
    SESSION,
    'return seq === this.state.seq && this.#lastId !== undefined && id !== this.#lastId;',
    'return seq === this.state.seq && this.#lastId === "" && id !== this.#lastId;',
    'failovers',
  ),
  'a session that was compared after a failover is not driven on': past(
    'core/engine/engine.ts',
    '      await session.compareAll();\n      // The database may still, or again, say that this node drives it.\n      queue.wake(session);',
    '      await session.compareAll();',
    'failovers',
  ),
  'a call that was denied on another node starts': past(
    TOOLS,
    '.filter((change) => isCurrent(state, change))',
    '.filter((change) => isCurrent(state, change) || state.turn?.id === turn.id)',
  ),
  'a step of a node that has lost its turn is stored': past(
    'core/engine/turn-deps.ts',
    'state.turn?.id === turn.id && !signal.aborted ? events : [],',
    'state.turn?.id === turn.id ? events : [],',
  ),
  'a turn that another node has continued up to a question goes on': past(
    SESSION,
    'if (holdsLease && !this.role.holdsLease) this.#abort.now();\n    else if',
    'void holdsLease;\n    if',
    'pauses',
  ),
  'a late message about an erasure is believed': past(
    SESSION,
    'if ((await this.sources.store.head(this.ref)) > 0) {',
    'if ((await this.sources.store.head(this.ref)) < 0) {',
    'erased sessions',
  ),
  'a failover is missed if the new server fails at first': past(
    'stores/postgres/heartbeat.ts',
    "if (found === 'unknown') return false;",
    "if (found === 'unknown') return true;",
    'failovers',
  ),
  'a session that could not be compared after a failover is used': past(
    SESSION,
    '    if (!(await this.#isOther())) await this.#catchUp();\n    this.#isUnsure = false;',
    '    this.#isUnsure = false;\n    if (!(await this.#isOther())) await this.#catchUp();',
    'failovers',
  ),
};

/** Replaces the fragment in the source when it is loaded. Call before anything that imports it. */
export function plant(name: string): void {
  const planted = MUTANTS[name];
  if (!planted) throw new Error(`there is no mutant "${name}"`);
  const path = join(SERVER, planted.file);
  plugin({
    name: 'mutant',
    setup(build) {
      build.onLoad({ filter: new RegExp(`${planted.file.replaceAll('.', '\\.')}$`) }, async (loaded) => {
        const source = await Bun.file(loaded.path).text();
        if (loaded.path !== path) return { contents: source, loader: 'ts' };
        if (source.split(planted.find).length !== 2)
          throw new Error(`the fragment of "${name}" is not once in ${planted.file}`);
        return { contents: source.replace(planted.find, () => planted.put), loader: 'ts' };
      });
    },
  });
}

/** Those whose fragment is not exactly once in their file: the source has changed. */
export async function stale(): Promise<string[]> {
  const found = await Promise.all(
    Object.entries(MUTANTS).map(async ([name, { file, find }]) => {
      const source = await Bun.file(join(SERVER, file)).text();
      return source.split(find).length === 2 ? [] : [name];
    }),
  );
  return found.flat();
}

type Search = {
  /** for each mutant */
  readonly seeds: number;
  /** processes at once */
  readonly jobs: number;
  /** whether nothing is broken without the defect */
  readonly isSound: (seed: number, about: About | undefined) => boolean;
};

type Found = { readonly name: string; readonly seeds: number | null };

const GUIDE = join(import.meta.dir, '../docs/guides/how-it-is-tested.md');
const [BEGIN, END] = ['<!-- mutants -->\n', '<!-- /mutants -->'];

/** The table of the guide, in the order of this file. */
async function writeTable(found: readonly Found[]): Promise<void> {
  const seedsOf = new Map(found.map(({ name, seeds }) => [name, seeds]));
  const rows = Object.entries(MUTANTS).map(([name, { about = 'all', real }]) => {
    const seeds = seedsOf.get(name);
    return `| ${name}${real ? ' *' : ''} | ${about} | ${seeds ?? 'not found'} |`;
  });
  const guide = await Bun.file(GUIDE).text();
  const [before, rest = ''] = guide.split(BEGIN);
  const [, after] = rest.split(END);
  const table = ['', '| planted defect | worlds | seeds |', '|---|---|---|', ...rows, '', ''].join('\n');
  await Bun.write(GUIDE, `${before}${BEGIN}${table}${END}${after}`);
}

/** Looks for each mutant in a process of its own. True if all are found. A whole list writes the table of the guide. */
export async function findMutants(
  names: readonly string[],
  { seeds, jobs, isSound }: Search,
): Promise<boolean> {
  const wanted = names.length > 0 ? names : Object.keys(MUTANTS);
  const results: Found[] = [];
  const left = [...wanted];
  const work = async () => {
    for (let name = left.shift(); name !== undefined; name = left.shift()) {
      const about = MUTANTS[name]?.about;
      const command = [
        process.execPath,
        join(import.meta.dir, 'main.ts'),
        '--mutant',
        name,
        '--seeds',
        `${seeds}`,
        '--quick',
        ...(about ? ['--about', about] : []),
      ];
      const child = Bun.spawn(command, { stdout: 'pipe', stderr: 'pipe' });
      const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
      const found = /found with (\d+) seeds?: (.*)/.exec(out);
      const isFound = found !== null && isSound(Number(found[1]), about);
      results.push({ name, seeds: isFound ? Number(found[1]) : null });
      if (found && !isFound) {
        console.log(`   – ${name}: seed ${found[1]} fails without it, too: fix that first`);
        continue;
      }
      console.log(
        found
          ? `${found[1]?.padStart(4)} ${about ? `(${about}) ` : ''}${name}: ${found[2]?.slice(0, 110)}`
          : `   – ${name}: SURVIVES ${err.slice(0, 300)}`,
      );
    }
  };
  await Promise.all(Array.from({ length: jobs }, work));
  const survivors = results.filter(({ seeds }) => seeds === null);
  if (names.length === 0) await writeTable(results);
  console.log(
    `\n${wanted.length - survivors.length} of ${wanted.length} mutants found; the number of seeds is in front`,
  );
  return survivors.length === 0;
}
