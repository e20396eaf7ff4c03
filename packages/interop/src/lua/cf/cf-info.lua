--[[
Reports whether the server has cuckoo filters, and how many fingerprints one holds.

KEYS[1]  the filter

Reply: { '', fingerprints, bytes } or { the error of CF.INFO }
]]
--- @include "named-values"
local info = redis.pcall('CF.INFO', KEYS[1])
if info.err then return { info.err } end
local values = namedValues(info)
return { '', values['Number of items inserted'], values['Size'] }
