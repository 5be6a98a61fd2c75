import { busContract } from '../../testing/cluster/contract.ts';
import { openMemoryBus } from './bus.ts';

busContract('memory', openMemoryBus);
