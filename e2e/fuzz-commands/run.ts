/** Evaluates lines from one seed, and runs those that need no approval exactly as the tool does. */
import { join } from 'node:path';
import { Fault } from '../../packages/protocol/src/index.ts';
import { contextIn, use } from '../../packages/server/src/testing/tools/tool-context.ts';
import type { Sandbox } from '../../packages/server/src/tools/shell/sandbox.ts';
import { shell } from '../../packages/server/src/tools/shell/tool.ts';
import { RandomSource } from '../fuzz/random.ts';
import { type Line, lineFrom } from './lines.ts';
import { PINNED } from './pinned.ts';
import { SECRET, scratch } from './scratch.ts';

export type Fuzzed = {
  readonly checked: number;
  readonly ran: number;
  /** how often each program started a command line that ran */
  readonly programs: Readonly<Record<string, number>>;
  readonly problems: readonly string[];
};

export type Run = {
  readonly seed: number;
  readonly count: number;
  readonly sandbox: Sandbox | null;
  readonly report?: (line: string) => void;
};

const AT_ONCE = 4;
/** Number of lines between two checks for changes. */
const BATCH = 500;

export async function fuzzCommands({ seed, count, sandbox, report }: Run): Promise<Fuzzed> {
  await using place = await scratch();
  const chance = new RandomSource(seed);
  const tools = place.roots.map((root) => ({
    root,
    tool: shell('shell', { sandbox, hide: [join(root, place.hidden)] }),
  }));
  const problems: string[] = [];
  const programs: Record<string, number> = {};
  const before = await place.snapshot();
  let [checked, ran] = [0, 0];

  async function tryLine(line: Line, at: number): Promise<void> {
    checked++;
    const { root, tool } = tools[at] ?? tools[0] ?? raise();
    const ask = await tool.approval(tool.input.parse(line), { root });
    if (ask !== null) return;
    ran++;
    const [shellOrProgram = '', , script] = line.command;
    const isScript = shellOrProgram === 'bash' || shellOrProgram === 'sh';
    const program = isScript ? (/^\S*/.exec(script ?? '')?.[0] ?? '') : shellOrProgram;
    programs[program] = (programs[program] ?? 0) + 1;
    const output = await use(tool, line, contextIn(root, { permission: 'safe' })).then(
      (result) => String(result.data?.output),
      (thrown) => {
        // A workdir that belongs to the server is refused, with or without approval.
        if (thrown instanceof Fault && thrown.code === 'tool_invalid') return '';
        throw thrown;
      },
    );
    if (output.includes(SECRET) && !JSON.stringify(line).includes(SECRET))
      problems.push(`reads what it must not: ${JSON.stringify(line)}: ${output.slice(0, 300)}`);
    const executed = await place.executed();
    if (executed !== '') problems.push(`${executed.trim()} was run, perhaps by ${JSON.stringify(line)}`);
  }

  for (const { line, root } of PINNED) await tryLine(line, root);
  while (checked < count && problems.length === 0) {
    const size = Math.min(BATCH, count - checked);
    const lines = Array.from({ length: size }, () => ({
      line: lineFrom(chance),
      at: chance.below(10) < 8 ? 0 : chance.below(3),
    }));
    const workers = Array.from({ length: AT_ONCE }, async () => {
      for (let next = lines.pop(); next; next = lines.pop()) await tryLine(next.line, next.at);
    });
    await Promise.all(workers);
    problems.push(...changes(before, await place.snapshot(), checked));
    if (Math.floor(checked / 10_000) > Math.floor((checked - size) / 10_000))
      report?.(`${checked} checked, ${ran} auto-approved, ${problems.length} problems`);
  }
  return { checked, ran, programs, problems };
}

function changes(before: string, after: string, checked: number): string[] {
  if (before === after) return [];
  const [old, now] = [new Set(before.split('\n')), new Set(after.split('\n'))];
  const differing = [...old.symmetricDifference(now)].slice(0, 5);
  return [`something was changed within the ${BATCH} lines before ${checked}: ${differing.join('; ')}`];
}

function raise(): never {
  throw new Error('no root');
}
