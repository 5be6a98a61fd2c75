/** Client messages of the broadcast contract: there is one. */
import type { Example, Known } from './example.ts';

const chat = ({ session }: Known, message: string) => ({
  type: 'chat',
  message,
  ...(session === '' ? {} : { session_id: session }),
});

export const BROADCAST: readonly Example[] = [
  { type: 'chat', title: 'Send a message', frame: (known) => chat(known, 'count to 20') },
  {
    type: 'chat',
    title: 'Ask for a command that needs approval',
    frame: (known) => chat(known, 'run touch hello.txt'),
  },
  { type: 'chat', title: 'Answer an approval: yes or no', frame: (known) => chat(known, 'yes') },
];
