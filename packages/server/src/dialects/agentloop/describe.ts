import type { Description } from '../shared/description.ts';
import { inbound } from './describe-inbound.ts';
import { outbound } from './describe-outbound.ts';

export const description: Description = {
  title: 'Terminal agent',
  summary:
    'Terminal and web front ends of a coding agent. One socket is one conversation; ?session=NAME joins a session.',
  endpoints: [],
  socket: {
    nameField: 'type',
  },
  messages: { in: inbound, out: outbound },
};
