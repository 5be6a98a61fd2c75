import {
  AgentRef,
  Ask,
  Command,
  ContextUse,
  DirectCall,
  FaultData,
  HistoryItem,
  Part,
  Usage,
} from '@parlance/protocol';
import * as api from '@parlance/protocol/api';
import { type Description, named } from '../kit/description.ts';

// Names of the schemas in the documents.

const FIELDS = { Ask, AgentRef, Command, Fault: FaultData, Part, Usage, ContextUse, DirectCall, HistoryItem };
// Parameters are described one by one, and streams as text.
for (const [name, schema] of Object.entries({ ...FIELDS, ...api }))
  if (!/^Snapshot$|(?:Query|Headers)$/.test(name)) named(name, schema);

const error = (description: string) => ({ description, schema: api.NativeError });

const SDK_SCRIPT = {
  title: 'With @parlance/sdk',
  language: 'ts',
  code: `import { connect } from '@parlance/sdk';

const parlance = connect({ url: '{{origin}}', token: process.env.PARLANCE_TOKEN });
const session = parlance.session('demo');
const { seq } = await session.submit('count to 20');
for await (const event of session.events({ after: seq })) {
  if (event.type === 'text.delta') process.stdout.write(event.text);
  if (event.type === 'turn.ended') break;
}`,
} as const;

export const description: Description = {
  title: 'Scripts and the SDK',
  summary: 'The native API: commands in, events out. The console uses it, too.',
  scripts: [SDK_SCRIPT],
  commands: {
    path: '/v1/sessions/{id}/commands',
    ids: {
      'approval.requested': [
        { id: 'approval', at: 'approval' },
        { id: 'call', at: 'call' },
        { id: 'hash', at: 'hash' },
      ],
      'call.requested': [{ id: 'call', at: 'call' }],
    },
  },
  schemas: api,
  errors: {
    400: error('Invalid request; the message names the field'),
    401: error('Missing or invalid token'),
    403: error('The role lacks the permission'),
    404: error('Not found, or it belongs to another user'),
    409: error('Not possible in the current state'),
    429: error('Rate limited; Retry-After is in seconds'),
    502: error('The model API is unreachable'),
  },
};
