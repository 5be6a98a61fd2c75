/** Project instructions of a real server: asked about, used, listed and revoked. */
import { expect, test } from 'bun:test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '@parlance/sdk';
import { startTestServer } from '../../testing/server.ts';

test('instructions are asked about, used until they change, listed for their owner alone, and revoked', async () => {
  await using server = await startedServer();
  writeFileSync(join(server.root, 'AGENTS.md'), 'Answer in French.');
  const as = async (name: string) =>
    connect({ url: server.http, token: await server.login(name, `${name}-password`) });
  const [ada, dev, uma] = [await as('ada'), await as('dev'), await as('uma')];

  const session = ada.session();
  const turn = async (text: string): Promise<string[]> => {
    const { seq } = await session.submit(text, { project: 'ask' });
    const seen: string[] = [];
    for await (const event of session.events({ after: seq })) {
      if (event.type === 'question.asked') {
        seen.push(`asked: ${event.title}`);
        await ada.questions.answer(event.question, { use: ['Use'] });
      }
      if (event.type === 'instructions.changed')
        seen.push(...event.files.map(({ use, path }) => `${use} ${path}`));
      if (event.type === 'turn.ended') break;
    }
    return seen;
  };
  const asked = 'asked: Use AGENTS.md of this folder as instructions?';
  expect(await turn('One')).toEqual([asked, 'used AGENTS.md']);
  expect(await turn('Two')).toEqual([]);
  const path = join(server.root, 'AGENTS.md');
  expect(await ada.instructions.list()).toMatchObject([{ path, use: 'used', by: 'ada', everyone: false }]);
  expect(await dev.instructions.list()).toEqual([]);
  expect(dev.instructions.revoke({ path })).rejects.toMatchObject({ code: 'not_found' });
  expect(dev.instructions.revoke({ path, everyone: true })).rejects.toMatchObject({ code: 'forbidden' });
  writeFileSync(path, 'Answer in German.');
  expect(await turn('Three')).toEqual([asked, 'used AGENTS.md']);
  await ada.instructions.revoke({ path });
  expect(await ada.instructions.list()).toEqual([]);
  expect(await turn('Four')).toEqual([asked]);

  const skill = join(server.data, 'skills/release');
  mkdirSync(skill, { recursive: true });
  writeFileSync(
    join(skill, 'SKILL.md'),
    '---\nname: release\ndescription: Prepares a release.\n---\nRun the tests.',
  );
  const listed = [{ name: 'release', description: 'Prepares a release.', source: 'server' }];
  expect(await ada.skills()).toMatchObject(listed);
  expect(await uma.skills()).toMatchObject(listed);
  expect(await ada.skills({ session: session.id })).toMatchObject(listed);
  expect(uma.skills({ session: session.id })).rejects.toMatchObject({ code: 'not_found' });

  // A role that may not approve is not asked, and goes on without.
  const { turn: answered } = await uma.session().ask('Hello', { project: 'ask' });
  expect(answered.items.flatMap((item) => (item.kind === 'instructions' ? item.files : []))).toMatchObject([
    { path: 'AGENTS.md', use: 'new' },
  ]);
});

async function startedServer() {
  const server = await startTestServer();
  return { ...server, [Symbol.asyncDispose]: () => server.stop() };
}
