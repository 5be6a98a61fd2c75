import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AnyFrame, TestClient } from '../../testing/client.ts';
import { startTestServer, type TestServer } from '../../testing/server.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});

afterAll(() => server.stop());

const input = (text: string, more: object = {}) => ({
  id: '550e8400-e29b-41d4-a716-446655440000',
  type: 'user_input',
  payload: { input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text }] }], ...more },
});

const review = (answer: string, more: object = {}) => ({
  id: '550e8400-e29b-41d4-a716-446655440001',
  type: 'approval_response',
  payload: { review: answer, customDenyMessage: null, ...more },
});

const payload = (frame: AnyFrame | undefined) => (frame?.payload ?? {}) as Record<string, unknown>;

const itemTypes = (frames: AnyFrame[]) =>
  frames.filter((frame) => frame.type === 'response_item').map((frame) => payload(frame).type);

const assistantText = (frames: AnyFrame[]) =>
  frames
    .filter((frame) => payload(frame).type === 'message' && payload(frame).role === 'assistant')
    .map((frame) => (payload(frame).content as { text: string }[]).map((part) => part.text).join(''))
    .join('');

async function turn(client: TestClient, text: string): Promise<AnyFrame[]> {
  client.send(input(text));
  return client.until('context_info');
}

describe('approvals', () => {
  test('yes: the request precedes the item that shows the call', async () => {
    const client = await server.connect('/agentloop');
    client.send(input('run touch yes.txt'));
    const before = await client.until('approval_request');
    expect(itemTypes(before)).not.toContain('function_call');
    expect(payload(before.at(-1))).toEqual({
      command: ['touch', 'yes.txt'],
      requestId: expect.any(String),
    });
    client.send(review('yes'));
    const after = await client.until('context_info');
    expect(itemTypes(after).slice(0, 2)).toEqual(['function_call', 'function_call_output']);
    expect(existsSync(join(server.root, 'yes.txt'))).toBe(true);
  });

  test('an approval request for a patch contains its text, and the patch is applied', async () => {
    const client = await server.connect('/agentloop');
    client.send(input('create file patched.txt with hello'));
    const patch = '*** Begin Patch\n*** Add File: patched.txt\n+hello\n*** End Patch';
    expect(payload(await client.next('approval_request'))).toEqual({
      command: ['apply_patch', patch],
      applyPatch: { patch },
      requestId: expect.any(String),
    });
    client.send(review('yes', { applyPatch: { patch } }));
    await client.next('agent_finished');
    expect(readFileSync(join(server.root, 'patched.txt'), 'utf8')).toBe('hello\n');
  });

  test('a warning precedes the approval request of a patch that replaces a file, also for a socket that attaches later', async () => {
    writeFileSync(join(server.root, 'there.txt'), 'old\n');
    const client = await server.connect('/agentloop?session=replacing');
    client.send(input('create file there.txt with hello'));
    const warning = 'This patch replaces the existing file there.txt.';
    const warns = (frame: AnyFrame) => JSON.stringify(payload(frame).content ?? '').includes(warning);
    const asked = await client.until('approval_request');
    expect(asked.slice(-2).map((frame) => [frame.type, warns(frame)])).toEqual([
      ['response_item', true],
      ['approval_request', false],
    ]);
    const later = await server.connect('/agentloop?session=replacing');
    expect((await later.until('approval_request')).filter(warns)).toHaveLength(1);
    expect(new Set(later.frames.map((frame) => frame.id)).size).toBe(later.frames.length);
    client.send(review('yes'));
    await client.next('agent_finished');
    expect(readFileSync(join(server.root, 'there.txt'), 'utf8')).toBe('hello\n');
  });

  test('a patch with spaces around its markers can move a file over another', async () => {
    writeFileSync(join(server.root, 'from.txt'), 'one\n');
    writeFileSync(join(server.root, 'onto.txt'), 'gone\n');
    const patch =
      ' *** Begin Patch \n  *** Update File: from.txt \n *** Move to: onto.txt\n @@ \n-one\n+two\n *** End Patch ';
    const client = await server.connect('/agentloop');
    client.send(input(`run this:\n\`\`\`\napply_patch <<'EOF'\n${patch}\nEOF\n\`\`\``));
    expect(payload(await client.next('approval_request')).applyPatch).toEqual({ patch });
    client.send(review('yes'));
    const frames = await client.until('agent_finished');
    expect(JSON.stringify(frames)).toContain('M onto.txt (was from.txt, replaced)');
    expect(readFileSync(join(server.root, 'onto.txt'), 'utf8')).toBe('two\n');
    expect(existsSync(join(server.root, 'from.txt'))).toBe(false);
  });

  test('no-continue: the model receives the reason, and the turn continues', async () => {
    const client = await server.connect('/agentloop');
    client.send(input('run touch no.txt'));
    await client.next('approval_request');
    client.send(review('no-continue', { customDenyMessage: 'use another name' }));
    const frames = await client.until('agent_finished');
    expect(itemTypes(frames).slice(0, 2)).toEqual(['function_call', 'function_call_output']);
    expect(JSON.stringify(frames)).toContain('use another name');
    expect(assistantText(frames)).not.toBe('');
    expect(existsSync(join(server.root, 'no.txt'))).toBe(false);
  });

  test('no-exit: the turn ends', async () => {
    const client = await server.connect('/agentloop');
    client.send(input('run touch exit.txt'));
    await client.next('approval_request');
    client.send(review('no-exit'));
    const frames = await client.until('agent_finished');
    expect(assistantText(frames)).toBe('');
    expect(existsSync(join(server.root, 'exit.txt'))).toBe(false);
  });

  test('always: the same program needs no approval again in this session, but does in another', async () => {
    const client = await server.connect('/agentloop');
    client.send(input('run touch one.txt'));
    await client.next('approval_request');
    client.send(review('always'));
    await client.next('context_info');
    const frames = await turn(client, 'run touch two.txt');
    expect(frames.some((frame) => frame.type === 'approval_request')).toBe(false);
    const other = await server.connect('/agentloop');
    other.send(input('run touch three.txt'));
    await other.next('approval_request');
  });

  test('explain: sends an explanation of the command, then the same request again', async () => {
    const client = await server.connect('/agentloop');
    client.send(input('run touch why.txt'));
    const first = payload(await client.next('approval_request'));
    client.send(review('explain'));
    const [explanation, again] = await client.until('approval_request');
    expect(payload(explanation)).toMatchObject({ type: 'message', role: 'assistant' });
    expect(payload(again)).toEqual(first);
    client.send(review('no-exit'));
    await client.next('agent_finished');
  });

  test('an answer without a pending approval, or a second one, gets an error', async () => {
    const client = await server.connect('/agentloop');
    client.send(review('yes'));
    expect(payload(await client.next('error')).message).toBe('No pending approval request');
    client.send(input('run touch twice.txt'));
    await client.next('approval_request');
    client.send(review('yes'));
    client.send(review('yes'));
    expect(payload(await client.next('error')).message).toBe('No pending approval request');
  });
});
