/** Environment variables for each model provider. */

export type Provider = {
  /** value of `PROVIDER` and of `About.provider` */
  readonly id: string;
  readonly name: string;
  readonly variables: readonly string[];
  readonly start: string;
};

export const PROVIDERS: readonly Provider[] = [
  {
    id: 'openai',
    name: 'OpenAI',
    variables: ['OPENAI_API_KEY'],
    start: 'OPENAI_API_KEY=YOUR-KEY npm start',
  },
  {
    id: 'anthropic',
    name: 'Anthropic',
    variables: ['ANTHROPIC_API_KEY'],
    start: 'ANTHROPIC_API_KEY=YOUR-KEY npm start',
  },
  {
    id: 'google',
    name: 'Google',
    variables: ['GOOGLE_API_KEY', 'GEMINI_API_KEY'],
    start: 'GOOGLE_API_KEY=YOUR-KEY npm start',
  },
  {
    id: 'own',
    name: 'Self-hosted model',
    variables: ['OPENAI_BASE_URL', 'MODEL'],
    start: 'OPENAI_BASE_URL=http://127.0.0.1:11434/v1 MODEL=llama3.3 npm start',
  },
];
