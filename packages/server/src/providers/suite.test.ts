import { describe } from 'bun:test';
import { fetchClient } from './http/fetch-client.ts';
import { socketClient } from './http/socket-client.ts';
import { providerSuite } from './suite.ts';

describe('provider suite over sockets', () => providerSuite(socketClient));
describe('provider suite over fetch', () => providerSuite(fetchClient));
