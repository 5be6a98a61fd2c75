import { describe } from 'bun:test';
import { providerSuite } from '../testing/providers/suite.ts';
import { fetchClient } from './http/client.ts';
import { socketClient } from './http/socket-client.ts';

describe('provider suite over sockets', () => providerSuite(socketClient));
describe('provider suite over fetch', () => providerSuite(fetchClient));
