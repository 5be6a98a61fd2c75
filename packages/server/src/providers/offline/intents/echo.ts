/** "echo X": the smallest tool. */
import { doing, type Intent, request } from '../plan.ts';
import { readable } from '../result.ts';
import { code, shown } from '../text/quote.ts';
import { contentOf } from './paths.ts';

const ECHO = /^echo\s+([\s\S]+)$/i;

export const echo: Intent = {
  name: 'echo',
  match({ text }) {
    const value = contentOf(ECHO.exec(text)?.[1] ?? '');
    if (value === '') return null;
    const options = [request('echo', { value }), request('shell', { command: ['echo', value] })];
    return doing(`echo ${code(value)}`, options, (done) => `The echo came back:${shown(readable(done))}`);
  },
};
