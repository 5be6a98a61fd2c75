/** An app of an MCP server, written with the official SDK: it shows what it receives, and what it gets for its requests. */
import { App } from '@modelcontextprotocol/ext-apps/app-with-deps';

const show = (where, value) => {
  document.getElementById(where).textContent = JSON.stringify(value);
};

const app = new App({ name: 'chart', version: '1' }, { availableDisplayModes: ['inline', 'fullscreen'] });
app.addEventListener('toolinput', (params) => show('input', params.arguments));
app.addEventListener('toolresult', (result) => show('result', result.structuredContent.points.length));
app.addEventListener('hostcontextchanged', (context) => show('mode', context.displayMode));
app.onteardown = async () => {
  console.log('the app is closed');
  return {};
};
await app.connect();
const { version } = app.getHostVersion() ?? {};
show('host', [app.getHostContext().toolInfo.tool.name, version]);

const answers = [];
const asking = async (work) => {
  answers.push(await work().catch((thrown) => ({ thrown: thrown.message })));
  show('answers', answers);
};
await asking(() => app.callServerTool({ name: 'refresh', arguments: {} }));
await asking(() => app.callServerTool({ name: 'secret', arguments: {} }));
await asking(() => app.readServerResource({ uri: 'charts://data' }));
await asking(() => app.requestDisplayMode({ mode: 'fullscreen' }));
await asking(() => app.sendMessage({ role: 'user', content: [{ type: 'text', text: 'From the app' }] }));
await asking(() => app.openLink({ url: 'https://example.com/' }));
document.title = 'done';
show('done', true);
