/** CopilotKit's runtime with Parlance as its agent, and CopilotKit's front end without a page. */
import { deepEqual, equal, match } from 'node:assert/strict';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { startTestServer } from '../../../packages/server/src/testing/server.ts';
import { type Answer, type ChatRequest, scriptedModel } from '../../scripted-model.ts';
import { followed } from '../../server-process.ts';
import { installed } from '../install.ts';

const VERSION = '1.75.0';

type Message = { readonly role: string; readonly content?: string; readonly calls: number };

type Step = {
  readonly step: string;
  readonly runs?: readonly { readonly type: string; readonly outcome?: { readonly type: string } }[];
  readonly messages?: readonly Message[];
  readonly pending?: number;
  readonly wasRunning?: boolean;
};

function answerTo({ messages }: ChatRequest): Answer {
  const last = messages.at(-1);
  const text = String(last?.content ?? '');
  if (last?.role === 'tool') return { say: `It is ${text}.` };
  if (text === 'weather') return { call: 'weather', input: { city: 'Rome' } };
  if (text === 'echo') return { call: 'echo', input: { value: 'seen' } };
  if (text === 'touch') return { call: 'shell', input: { command: ['touch', 'a.txt'] } };
  if (text === 'endless') return { say: 'It goes on ', after: 'silence' };
  if (text === 'refuse') return { status: 400 };
  return { say: `You said ${text}.`, ...(text.startsWith('think') && { think: 'Hm.' }) };
}

const folder = await installed('copilotkit', [
  `@copilotkit/runtime@${VERSION}`,
  `@copilotkit/core@${VERSION}`,
  '@ag-ui/client@0.0.59',
]);
copyFileSync(join(import.meta.dir, 'program.mjs'), join(folder, 'program.mjs'));
const model = scriptedModel(answerTo);
const server = await startTestServer({ OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'key', MODEL: 'fake' });
const program = Bun.spawn(['node', 'program.mjs'], {
  cwd: folder,
  env: {
    ...process.env,
    PARLANCE_URL: server.http,
    COPILOTKIT_TELEMETRY_DISABLED: 'true',
    DO_NOT_TRACK: '1',
  },
  stdout: 'pipe',
  stderr: 'inherit',
});
const output = await new Response(program.stdout).text();
const steps = new Map(
  output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Step)
    .map((step) => [step.step, step]),
);

const runsOf = (step: string) =>
  (steps.get(step)?.runs ?? []).map(({ type, outcome }) => (outcome ? `${type} ${outcome.type}` : type));
const messagesOf = (step: string) =>
  (steps.get(step)?.messages ?? []).map(({ role, content = '' }) => `${role}: ${content}`);

const SUCCESS = ['RUN_STARTED', 'RUN_FINISHED success'];

try {
  deepEqual(runsOf('text'), SUCCESS);
  deepEqual(messagesOf('text'), ['user: think hello', 'reasoning: Hm.', 'assistant: You said think hello.']);
  deepEqual(messagesOf('again').slice(3), ['user: second', 'assistant: You said second.']);
  deepEqual(runsOf('front-end tool'), [...SUCCESS, ...SUCCESS]);
  deepEqual(messagesOf('front-end tool').slice(2), [
    'tool: sunny in Rome',
    'assistant: It is sunny in Rome.',
  ]);
  match(JSON.stringify(model.requests[0]?.messages[0]), /The open page.*Invoices/);
  deepEqual(messagesOf('agent tool').slice(2), ['tool: seen', 'assistant: It is seen.']);
  deepEqual(runsOf('interrupt'), ['RUN_STARTED', 'RUN_FINISHED interrupt']);
  equal(steps.get('interrupt')?.pending, 1);
  deepEqual(runsOf('resume'), SUCCESS);
  equal(messagesOf('resume').length, 4);
  deepEqual(runsOf('stop'), ['RUN_STARTED', 'RUN_ERROR']);
  // The client version in the runtime has no outcome for it.
  deepEqual(runsOf('cancelled elsewhere'), ['RUN_STARTED', 'RUN_FINISHED']);
  deepEqual(runsOf('failure'), ['RUN_STARTED', 'RUN_ERROR']);
  equal(steps.get('left')?.wasRunning, true);
  const isCancelled = (events: readonly { readonly type: string }[]) =>
    events.some(({ type }) => type === 'turn.cancelled');
  for (const session of ['stopped', 'left']) await followed(server, session, isCancelled);
  await model.aborted;
} catch (thrown) {
  console.error(output);
  throw thrown;
} finally {
  await server.stop();
  model.stop();
}
