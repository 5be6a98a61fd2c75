/**
 * The technology compatibility kit of A2A. It is not on npm: `A2A_TCK_DIR` names a folder with the branch `1.0-dev` of the repository
 * (https://github.com/a2aproject/a2a-tck). It needs Python with httpx, pytest, jsonschema and jinja2.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestServer } from '../../packages/server/src/testing/server.ts';
import { type Answer, type ChatRequest, scriptedModel } from '../scripted-model.ts';
import type { Figures, Suite } from './figures.ts';

/** Null if the folder is not there. */
export const folder = process.env.A2A_TCK_DIR || null;

type Task = { readonly history?: readonly { readonly role: string; readonly messageId: string }[] };

async function run(): Promise<Figures | null> {
  if (folder === null) return null;
  const scratch = await mkdtemp(join(tmpdir(), 'parlance-tck-'));
  const model = scriptedModel(async (request) => answerTo(await messageId(), request));
  const server = await startTestServer({
    ...model.settings,
    PARLANCE_API_REQUESTS_PER_MINUTE: '100000',
    PARLANCE_PUSH_NOTIFICATIONS: 'any',
    PARLANCE_TOOLS: join(import.meta.dir, 'a2a/tools.ts'),
  });
  /** The kit says what it expects in the ids of its messages. */
  async function messageId(): Promise<string> {
    const response = await fetch(`${server.http}/a2a`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'ListTasks',
        params: { status: 'TASK_STATE_WORKING', pageSize: 1 },
      }),
    });
    const { result } = (await response.json()) as { result: { tasks: Task[] } };
    const [task] = result.tasks;
    return task?.history?.findLast(({ role }) => role === 'ROLE_USER')?.messageId ?? '';
  }
  try {
    await Bun.write(join(scratch, 'pytest.ini'), '[pytest]\n');
    const report = join(scratch, 'report.xml');
    const child = Bun.spawn(
      [
        process.env.PYTHON ?? 'python3',
        ...['-m', 'pytest', 'tests/compatibility', '-p', 'plugin', '-q'],
        ...['-c', join(scratch, 'pytest.ini'), '--rootdir', folder, '-p', 'no:cacheprovider'],
        ...[`--junitxml=${report}`, `--sut-host=${server.http}`, '--transport=jsonrpc,http_json'],
      ],
      {
        cwd: folder,
        env: {
          ...process.env,
          PYTHONPATH: `${join(import.meta.dir, 'a2a')}:${folder}`,
          PYTHONDONTWRITEBYTECODE: '1',
        },
        stdout: 'pipe',
        stderr: 'pipe',
      },
    );
    const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    if (!(await Bun.file(report).exists())) throw new Error(`the kit did not run: ${out}${err}`);
    return figuresOf(await Bun.file(report).text());
  } finally {
    await server.stop();
    model.stop();
    await rm(scratch, { recursive: true, force: true });
  }
}

const TEXTS: Readonly<Record<string, string>> = {
  'tck-artifact-text': 'Generated text content',
  'tck-stream-artifact-text': 'Streamed text content',
  'tck-stream-001': 'Stream hello from TCK',
  'tck-stream-003': 'Stream task lifecycle',
  'tck-stream-ordering-001': 'Ordered output',
  'tck-stream-artifact-chunked': 'chunk-1 chunk-2',
};

/** What the scenarios of the kit ask for. */
function answerTo(id: string, { messages }: ChatRequest): Answer {
  if (id.startsWith('tck-input-required')) return { call: 'shell', input: { command: ['touch', 'file'] } };
  if (/^tck-(?:stream-)?artifact-file/.test(id)) {
    if (messages.at(-1)?.role === 'tool') return { say: '' };
    return { call: 'attach', input: {} };
  }
  const named = Object.keys(TEXTS).find((prefix) => id.startsWith(`${prefix}-`));
  return { say: (named && TEXTS[named]) ?? 'Hello from TCK' };
}

/** Reads a JUnit report. Skipped are what belongs to a binding or capability that the card does not declare. */
function figuresOf(xml: string): Figures {
  const cases = [
    ...xml.matchAll(/<testcase classname="([^"]*)" name="([^"]*)"[^>]*?(?:\/>|>(.*?)<\/testcase>)/gs),
  ];
  const failures: string[] = [];
  let passed = 0;
  for (const [, place = '', name = '', outcome = ''] of cases) {
    const [, kind, message = ''] = /<(failure|error|skipped)[^>]*? message="([^"]*)"/.exec(outcome) ?? [];
    if (kind === undefined) passed += 1;
    else if (kind !== 'skipped') failures.push(`${place}.${name}: ${message.slice(0, 300)}`);
  }
  return { passed, total: passed + failures.length, failures };
}

export const a2a: Suite = { name: 'A2A TCK', version: '1.0-dev', run };
