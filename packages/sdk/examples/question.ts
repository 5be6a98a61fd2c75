// Answers a question of the agent; without `onQuestion`, the turn waits for another client.
import { connect } from '@parlance/sdk';

const parlance = connect({ url: process.env.PARLANCE_URL ?? 'http://127.0.0.1:3000' });
const session = parlance.session();
const options = [{ label: 'SQLite' }, { label: 'PostgreSQL' }];

// Here a person calls the tool; usually the model does.
const { turn } = await session.ask([], {
  call: {
    tool: 'ask_user',
    input: { questions: [{ header: 'Database', question: 'Which one?', options }] },
  },
  onQuestion({ questions }) {
    return Object.fromEntries(questions.map(({ id }) => [id, 'PostgreSQL']));
  },
});
const answered = turn.items.find((item) => item.kind === 'question');
console.log(answered?.state.status, JSON.stringify(answered?.state));
