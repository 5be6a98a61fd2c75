/**
 * CopilotKit as an application has it: the runtime with Parlance as an agent, and a front end without a page in front of it. Runs
 * in a folder with the packages installed. Writes one line of JSON for each step.
 */
import { createServer } from 'node:http';
import { HttpAgent } from '@ag-ui/client';
import { CopilotKitCore } from '@copilotkit/core';
import { CopilotRuntime } from '@copilotkit/runtime/v2';
import { createCopilotNodeListener } from '@copilotkit/runtime/v2/node';
import { z } from 'zod';

const BASE = '/api/copilotkit';
const { PARLANCE_URL } = process.env;

const parlance = new HttpAgent({ url: `${PARLANCE_URL}/agui` });
const runtime = new CopilotRuntime({ agents: { default: parlance } });
const server = createServer(createCopilotNodeListener({ runtime, basePath: BASE, activateChannels: false }));
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const runtimeUrl = `http://127.0.0.1:${server.address().port}${BASE}`;

/** What a page has: the front end's tools and context, and the agent of the runtime. */
function page(threadId) {
  const weather = {
    name: 'weather',
    description: 'The weather of a city.',
    parameters: z.object({ city: z.string() }),
    handler: async ({ city }) => `sunny in ${city}`,
  };
  const core = new CopilotKitCore({ runtimeUrl, tools: [weather] });
  core.addContext({ description: 'The open page', value: 'Invoices' });
  core.subscribe({ onError: ({ error }) => report('error', { message: String(error?.message ?? error) }) });
  const { agent } = core.registerProxiedAgent({ agentId: 'page', runtimeAgentId: 'default' });
  agent.threadId = threadId;
  return { core, agent };
}

const report = (step, what) => process.stdout.write(`${JSON.stringify({ step, ...what })}\n`);

const shown = ({ messages }) =>
  messages.map(({ role, content, toolCalls }) => ({ role, content, calls: toolCalls?.length ?? 0 }));

async function say({ core, agent }, content, options = {}) {
  const ended = [];
  if (content !== null) agent.addMessage({ id: crypto.randomUUID(), role: 'user', content });
  const { unsubscribe } = agent.subscribe({
    onEvent: ({ event }) => {
      if (event.type.startsWith('RUN_')) ended.push({ type: event.type, outcome: event.outcome });
      options.onEvent?.(event);
    },
  });
  await core.runAgent({ agent, ...options.run });
  unsubscribe();
  return ended;
}

const one = page('text');
report('text', { runs: await say(one, 'think hello'), messages: shown(one.agent) });
report('again', { runs: await say(one, 'second'), messages: shown(one.agent) });

const two = page('tools');
report('front-end tool', { runs: await say(two, 'weather'), messages: shown(two.agent) });

const three = page('agent-tool');
report('agent tool', { runs: await say(three, 'echo'), messages: shown(three.agent) });

const four = page('approval');
report('interrupt', { runs: await say(four, 'touch'), pending: four.agent.pendingInterrupts?.length ?? 0 });
const [interrupt] = four.agent.pendingInterrupts ?? [];
const resume = [{ interruptId: interrupt?.id, status: 'resolved', payload: { approved: true } }];
report('resume', { runs: await say(four, null, { run: { resume } }), messages: shown(four.agent) });

const five = page('stopped');
const stopped = await say(five, 'endless', {
  onEvent: ({ type }) => type === 'TEXT_MESSAGE_CONTENT' && five.core.stopAgent({ agent: five.agent }),
});
report('stop', { runs: stopped, messages: shown(five.agent) });

const six = page('cancelled');
const cancelled = await say(six, 'endless', {
  onEvent: ({ type }) => {
    if (type !== 'TEXT_MESSAGE_CONTENT') return;
    void fetch(`${PARLANCE_URL}/v1/sessions/cancelled/commands`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'turn.cancel' }),
    });
  },
});
report('cancelled elsewhere', { runs: cancelled, messages: shown(six.agent) });

const seven = page('failed');
report('failure', { runs: await say(seven, 'refuse'), messages: shown(seven.agent) });

// A page that is closed is not a stop: the runtime goes on with the run.
const eight = page('left');
await say(eight, 'endless', {
  onEvent: ({ type }) => type === 'TEXT_MESSAGE_CONTENT' && void eight.agent.detachActiveRun(),
});
const session = await (await fetch(`${PARLANCE_URL}/v1/sessions/left`)).json();
const response = await fetch(`${runtimeUrl}/agent/default/stop/left`, { method: 'POST' });
const { stopped: wasRunning } = await response.json();
report('left', { status: session.status, wasRunning });
process.exit(0);
