export { answerTo } from './answer.ts';
export type { Answer, Request } from './plan.ts';
export { type Item, type Prompt, textIn } from './prompt.ts';
export { deltas } from './text.ts';
