// The client libraries as applications use them: at their defaults.
import {ethers as ethers5} from 'ethers-v5';
import {JsonRpcProvider} from 'ethers';
import {createPublicClient, http} from 'viem';
import {createPublicClient as createClient256, http as http256} from 'viem-2.56.8';
import {Web3} from 'web3';

export const ADDRESS = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

// Each makes a reader of one balance: {balance(), end()}.
export const clients = {
  'viem 2.57': (url) => {
    const client = createPublicClient({transport: http(url)});
    return {balance: () => client.getBalance({address: ADDRESS}), end() {}};
  },
  'viem 2.56.8': (url) => {
    const client = createClient256({transport: http256(url)});
    return {balance: () => client.getBalance({address: ADDRESS}), end() {}};
  },
  'ethers 6.17': (url) => {
    const provider = new JsonRpcProvider(url);
    return {balance: () => provider.getBalance(ADDRESS), end: () => provider.destroy()};
  },
  'ethers 5.8': (url) => {
    const provider = new ethers5.providers.JsonRpcProvider(url);
    return {
      balance: async () => (await provider.getBalance(ADDRESS)).toBigInt(),
      end: () => provider.removeAllListeners(),
    };
  },
  'web3 4.16': (url) => {
    const web3 = new Web3(url);
    return {balance: () => web3.eth.getBalance(ADDRESS), end() {}};
  },
};
