#pragma once

// A header whose loops cores and GPUs share has Highway's toggle as its guard, and its code in namespace TESELA_UNIT
// between TESELA_BEFORE_UNIT and TESELA_AFTER_UNIT. After vectors_inl.hpp it is compiled for each vector unit (see
// per_target.hpp), elsewhere once. Internal to codelets/.
#ifdef HWY_NAMESPACE
#define TESELA_UNIT HWY_NAMESPACE
#define TESELA_BEFORE_UNIT HWY_BEFORE_NAMESPACE();
#define TESELA_AFTER_UNIT HWY_AFTER_NAMESPACE();
#else
#define TESELA_UNIT inline shared
#define TESELA_BEFORE_UNIT
#define TESELA_AFTER_UNIT
#endif
