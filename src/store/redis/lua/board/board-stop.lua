--[[
Asks the process that rebuilds to stop. It hears that with its next beat.

KEYS[1]  meta
KEYS[2]  the running rebuild
ARGV[1]  application of the caller, '' for none
ARGV[2]  name of the operator or program that asks

Reply: 'OWNER'  the filter belongs to another application
       'OK'     the process will hear it
       'NONE'   no process reports that it rebuilds
]]
--- @include "board-owner"
if isOfOthers(KEYS[1], ARGV[1]) then return 'OWNER' end
if type(redis.pcall('HGET', KEYS[2], 'run')) ~= 'string' then return 'NONE' end
redis.call('HSET', KEYS[2], 'stop', ARGV[2])
return 'OK'
