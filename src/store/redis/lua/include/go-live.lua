--[[
Needs  stagedContents  what the generation holds
Gives  goLive(meta, field, value, …)  makes a filter ready with these fields, and counts the build
]]
--- @include "builds"
local function goLive(meta, ...)
  redis.call('HSET', meta, 'state', 'ready', 'contents', stagedContents, ...)
  redis.call('HSET', meta, 'builds', string.format('%d', buildsOf(meta) + 1))
end
