/** Examples of `/api/agent/interact`. */
import type { ExampleIds, RequestExample } from '../shared/description.ts';

/** Elements are numbered so that actions can refer to them. */
const PAGE = '<h1>Shop</h1><label>Search <input id="1" name="search"></label><button id="2">Go</button>';
const QUERY = 'type lamp into Search and click Go';

export const interactExamples = ({
  session,
  task,
  site,
}: ExampleIds): readonly [RequestExample, ...RequestExample[]] => [
  {
    title: 'Start a task on a page',
    body: { query: QUERY, url: `https://${site}/`, dom: PAGE, sessionId: session },
  },
  {
    title: 'Start a task in a new session',
    first: true,
    creates: true,
    body: { query: QUERY, url: `https://${site}/`, dom: PAGE },
  },
  { title: 'Answer a question: yes or no', body: { query: 'yes', sessionId: session } },
  {
    title: 'Report that the last action succeeded',
    body: { query: QUERY, sessionId: session, taskId: task, lastActionStatus: 'success' },
  },
  {
    title: 'Report everything that a client may report',
    probe: true,
    body: {
      query: 'click the Submit button',
      url: `https://${site}/`,
      dom: '<form><input id="1" name="q"><button id="4">Submit</button></form>',
      sessionId: session,
      interactiveTree: [{ id: 1, role: 'button', name: 'Submit', children: [] }],
      semanticNodes: [{ id: '4', tag: 'button', text: 'Submit' }],
      lastActionStatus: 'success',
      lastActionError: { message: 'no', code: 'E', action: 'click(4)', elementId: 4 },
      clientVerification: { elementFound: true, selector: '#4', urlChanged: false },
    },
  },
];
