import { expect, test } from 'bun:test';
import { anthropic } from './anthropic.ts';
import { google } from './google.ts';
import { openaiChat } from './openai-chat.ts';
import { openaiResponses } from './openai-responses.ts';

const APIS = { anthropic, google, openaiChat, openaiResponses };
const baseUrl = 'https://models.example/v1';
const model = 'some-model';

for (const [name, api] of Object.entries(APIS)) {
  test(`${name}: a refused key is called by where it was entered`, () => {
    const keyName = 'the API key in the model settings';
    const { message } = api({ key: 'sk-1', keyName, model, baseUrl }).refused(401, '{}');
    expect(message).toEndWith(' refused the key: check the API key in the model settings.');
    expect(api({ key: 'sk-1', model, baseUrl }).refused(401, '{}').message).toMatch(
      /check [A-Z]+_API_KEY\.$/,
    );
  });

  test(`${name}: a missing key is not called refused`, () => {
    for (const status of [401, 403]) {
      const { message } = api({ key: '', model, baseUrl }).refused(status, '{}');
      expect(message).toMatch(/ needs an API key: enter it in the model settings, or set [A-Z]+_API_KEY\.$/);
    }
  });
}

for (const [name, api] of Object.entries(APIS))
  test(`${name}: a stored key that was entered for another address is called so`, () => {
    for (const status of [401, 403]) {
      const { message } = api({ key: '', isKeyWithheld: true, model, baseUrl }).refused(status, '{}');
      expect(message).toMatch(
        / needs an API key, but the stored one was entered for another address: enter it again in the model settings, or set [A-Z]+_API_KEY beside the address\.$/,
      );
    }
  });

test('anthropic: a key that is refused inside a stream', () => {
  const api = anthropic({ key: 'sk-1', keyName: 'my key', model, baseUrl });
  const error = { type: 'authentication_error', message: 'no' };
  const [, events] = api.step(api.start(), {
    event: 'error',
    data: JSON.stringify({ type: 'error', error }),
  });
  expect(events).toMatchObject([
    { type: 'failed', fault: { message: 'Anthropic refused the key: no. Check my key.' } },
  ]);
});
