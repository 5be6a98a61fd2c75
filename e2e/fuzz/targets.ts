/** Where hostile messages go: every dialect's socket and every body and address of the HTTP API, with examples of each. */
import { COMMANDS, WIRES, type Wire } from '../isolation/messages.ts';
import { ROUTES } from '../isolation/routes.ts';
import { nobodysIds } from '../isolation/things.ts';

const ids = nobodysIds();

export type SocketTarget = {
  readonly name: string;
  readonly path: string;
  readonly wire: Wire;
  readonly examples: readonly unknown[];
};
export type HttpTarget = {
  readonly method: string;
  readonly path: string;
  readonly examples: readonly unknown[];
};

const MORE: Readonly<Record<string, readonly unknown[]>> = {
  agentloop: [
    {
      id: '1',
      type: 'user_input',
      payload: {
        input: [
          {
            type: 'message',
            role: 'user',
            content: [
              { type: 'input_text', text: 'echo hello' },
              { type: 'input_image', image_url: 'data:image/png;base64,AAAA' },
            ],
          },
        ],
        previousResponseId: null,
      },
    },
    { id: '1', type: 'approval_response', payload: { review: 'no-continue', customDenyMessage: 'no' } },
  ],
  broadcast: [{ type: 'chat', message: 'echo hello' }],
  conversations: [
    { type: 'send_message', conversationId: `temp-${ids.session}`, payload: { content: 'echo hello' } },
    {
      type: 'send_message',
      conversationId: `temp-${ids.session}`,
      payload: { content: '/tool echo {"value":"x"}' },
    },
  ],
  extension: [
    {
      id: 'msg_1_abcdefghi',
      type: 'client_registration',
      timestamp: 1,
      clientType: 'browser_extension',
      capabilities: ['chat'],
      userAgent: 'a browser',
      metadata: { extensionVersion: '1.0.0', nested: { a: [1, 2] } },
    },
  ],
};

export const socketTargets = (token: string): readonly SocketTarget[] =>
  Object.entries(WIRES).map(([name, wire]) => ({
    name,
    wire,
    path: `${wire.path(ids)}${wire.path(ids).includes('?') ? '&' : '?'}token=${token}`,
    examples: [
      ...Object.values(wire.tries).flatMap(({ frames }) => frames(ids, '1.1')),
      ...(MORE[name] ?? []),
    ],
  }));

const INTERACT = {
  query: 'click the Submit button',
  url: 'http://shop.example/',
  dom: '<form><input id="1" name="q"><button id="4">Submit</button></form>',
  interactiveTree: [{ id: 1, role: 'button', name: 'Submit', children: [] }],
  semanticNodes: [{ id: '4', tag: 'button', text: 'Submit' }],
  lastActionStatus: 'success',
  lastActionError: { message: 'no', code: 'E', action: 'click(4)', elementId: 4 },
  clientVerification: { elementFound: true, selector: '#4', urlChanged: false },
};

export const HTTP_TARGETS: readonly HttpTarget[] = [
  ...Object.entries(ROUTES)
    .filter(([name, { spends }]) => !spends && !name.includes('login'))
    .flatMap(([name, { at, bodies }]) => {
      const [method = ''] = name.split(' ');
      return at(ids).map((path) => ({ method, path, examples: bodies?.(ids) ?? [] }));
    }),
  { method: 'POST', path: '/api/agent/interact', examples: [INTERACT] },
  {
    method: 'POST',
    path: `/v1/sessions/${ids.session}/commands`,
    examples: Object.values(COMMANDS).flatMap((command) => command(ids)),
  },
];
