/**
 * The compliance suite of Open Responses. It is not on npm: `OPENRESPONSES_DIR` names a folder with the repository
 * (https://github.com/openresponses/openresponses) in which `npm install zod@3.25.76` was run.
 */
import { join } from 'node:path';
import { startTestServer } from '../../packages/server/src/testing/server.ts';
import { type Answer, type ChatRequest, scriptedModel } from '../scripted-model.ts';
import type { Figures, Suite } from './figures.ts';

type Report = {
  readonly results: readonly {
    readonly id: string;
    readonly status: 'passed' | 'failed' | 'skipped';
    readonly errors?: readonly string[];
  }[];
};

/** Null if the folder is not there. */
export const folder = process.env.OPENRESPONSES_DIR || null;

async function run(): Promise<Figures | null> {
  if (folder === null) return null;
  const model = scriptedModel(answerTo);
  const server = await startTestServer({ ...model.settings, PARLANCE_API_REQUESTS_PER_MINUTE: '100000' });
  try {
    const suite = join(folder, 'bin/compliance-test.ts');
    const options = ['-u', `${server.http}/v1`, '-k', 'none', '-m', 'parlance', '--json'];
    const child = Bun.spawn([process.execPath, suite, ...options], {
      cwd: folder,
      stdout: 'pipe',
      stderr: 'pipe',
    });
    const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    if (!out.startsWith('{')) throw new Error(`the suite did not run: ${out}${err}`);
    const { results } = JSON.parse(out) as Report;
    return {
      passed: results.filter(({ status }) => status === 'passed').length,
      total: results.length,
      failures: results
        .filter(({ status }) => status !== 'passed')
        .map(({ id, errors = [] }) => `${id}: ${errors.join('; ')}`),
    };
  } finally {
    await server.stop();
    model.stop();
  }
}

const TOOL = 'get_weather';

/** Calls the tool of the suite if it is offered. */
const answerTo = ({ messages, tools = [] }: ChatRequest): Answer =>
  tools.some((tool) => tool.function.name === TOOL) && messages.at(-1)?.role === 'user'
    ? { call: TOOL, input: { location: 'San Francisco, CA' } }
    : { say: 'Hello from here.' };

export const openResponses: Suite = { name: 'Open Responses', version: '2026-04-24', run };
