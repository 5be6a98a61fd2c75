import { expect, test } from 'bun:test';
import { connect } from '@parlance/sdk';
import { startTestServer } from '../../testing/server.ts';

test('prompts are stored per user, replaced by name, and listed in order', async () => {
  const settings = { AUTH_USERS: 'ann:ann-password:developer;bob:bob-password:user' };
  const server = await startTestServer({ PARLANCE_AUTH: 'required', ...settings });
  const ann = connect({ url: server.http, token: await server.login('ann', 'ann-password') });
  const bob = connect({ url: server.http, token: await server.login('bob', 'bob-password') });
  // At once: none of the changes is lost.
  await Promise.all(
    ['review', 'commit', 'a1'].map((name) => ann.prompts.save({ name, text: `Text of ${name}.` })),
  );
  await ann.prompts.save({ name: 'review', text: '  Another text.\n' });
  await bob.prompts.save({ name: 'review', text: 'Of bob.' });
  expect(await ann.prompts.list()).toEqual([
    { name: 'a1', text: 'Text of a1.' },
    { name: 'commit', text: 'Text of commit.' },
    { name: 'review', text: 'Another text.' },
  ]);
  for (let once = 0; once < 2; once++) await ann.prompts.remove('commit');
  expect((await ann.prompts.list()).map(({ name }) => name)).toEqual(['a1', 'review']);
  expect(await bob.prompts.list()).toEqual([{ name: 'review', text: 'Of bob.' }]);
  for (const name of ['', 'Upper', 'with space', 'x'.repeat(41), '-a'])
    expect(ann.prompts.save({ name, text: 'x' })).rejects.toMatchObject({ code: 'invalid' });
  expect(ann.prompts.save({ name: 'long', text: 'x'.repeat(20_001) })).rejects.toMatchObject({
    code: 'invalid',
  });
  await server.stop();
});
