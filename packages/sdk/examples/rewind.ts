// Takes back what a turn has changed: shows what that does first, and undoes it afterwards.
import { connect } from '@parlance/sdk';

const parlance = connect({ url: process.env.PARLANCE_URL ?? 'http://127.0.0.1:3000' });
const session = parlance.session();

const { turn } = await session.ask('run touch rewound.txt', { onApproval: () => 'once' as const });
const to = turn.input?.input;
const { files } = await session.previewRewind({ to });
for (const { path, change, kept } of files) console.log(`${path}: ${kept ?? change}`);

const { facts } = await session.rewind({ to, conversation: false });
const rewind = facts.find((event) => event.type === 'rewind.started')?.rewind;
for await (const event of session.events()) {
  if (event.type !== 'files.rewound' || event.rewind !== rewind) continue;
  console.log(`Restored ${event.restored.length} files.`);
  break;
}
await session.rewind({ undo: rewind, conversation: false });
