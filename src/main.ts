#!/usr/bin/env -S node --
import { roomForBuffers } from "./cli/heap.js";
import { main } from "./cli/main.js";

roomForBuffers();
process.exitCode = await main(process.argv.slice(2));
