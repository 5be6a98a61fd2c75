// Limits what a session may use, answers when it is used up, and shows what models have used this month.
import { connect } from '@parlance/sdk';

const parlance = connect({ url: process.env.PARLANCE_URL ?? 'http://127.0.0.1:3000' });
const session = parlance.session();
await session.create();
await session.configure({ limit: { tokens: 1 } });
await session.ask('Hello');

// The limit is used up: the next turn asks before it calls the model.
await session.ask('Hello again', {
  onQuestion({ questions }) {
    for (const { text } of questions) console.log(text);
    return Object.fromEntries(questions.map(({ id, options }) => [id, options[0]?.label ?? '']));
  },
});

const { rows } = await parlance.usage.report({ by: ['model'] });
for (const { model, calls, inputTokens, outputTokens, dollars } of rows)
  console.log(`${model}: ${calls} calls, ${inputTokens + outputTokens} tokens, $${dollars}`);
for (const { text } of await parlance.usage.limits()) console.log(text);
