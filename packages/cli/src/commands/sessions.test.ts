import { expect, test } from 'bun:test';
import { connect } from '@parlance/sdk';
import { startTestServer } from '../../../server/src/testing/server.ts';
import { runParlance } from '../testing/run-parlance.ts';

const chunk = (delta: object, finish: string | null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

test('without a server, sessions are listed as the server lists them: pin, tags, and the model that answered last', async () => {
  using vendor = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () =>
      new Response(`${chunk({ content: 'Done.' }, 'stop')}data: [DONE]\n\n`, {
        headers: { 'content-type': 'text/event-stream' },
      }),
  });
  const server = await startTestServer({
    OPENAI_BASE_URL: `http://127.0.0.1:${vendor.port}/v1`,
    OPENAI_API_KEY: 'key',
    MODEL: 'large',
  });
  try {
    const parlance = connect({ url: server.http });
    const [asked, unasked] = [parlance.session('asked'), parlance.session('unasked')];
    await unasked.create();
    await asked.ask('# Fix the **build**');
    expect(await asked.get()).toMatchObject({ title: 'Fix the build', lastModel: 'large' });
    await asked.configure({ model: 'small' });
    await asked.ask('And now?');
    await asked.pin();
    await asked.tag(['work']);
    const { sessions } = await parlance.sessions.list();
    expect(sessions).toMatchObject([
      { id: 'asked', pinned: true, tags: ['work'], lastModel: 'small', messageCount: 4 },
      { id: 'unasked' },
    ]);
    expect(sessions[1]).not.toHaveProperty('lastModel');
    await server.running.stop();

    const list = (...flags: string[]) =>
      runParlance(['sessions', '--data', server.data, ...flags], { cwd: server.root });
    const { stdout } = await list('--json');
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(sessions);
    expect((await list()).stdout).toMatch(/MODEL.*\n *asked .* small +Fix the build/);
  } finally {
    await server.stop();
  }
});
